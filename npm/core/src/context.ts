/** What a custom attribute may be; `null` and `undefined` count as absent. */
export type AttributeValue = string | number | boolean | null | undefined;

/**
 * Whom a flag is evaluated for.
 *
 * A value that the service would refuse (another type than the one named here, a number that is not finite) counts as
 * absent, and so does `null`. Only own properties are read.
 */
export interface EvaluationContext<
  Custom extends object = Readonly<Record<string, AttributeValue>>,
> {
  /** Targeting, and the bucketing of `per_user` rollouts. */
  readonly userId?: string | null | undefined;
  /** Targeting, and the bucketing of `per_tenant` rollouts. */
  readonly tenantId?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly country?: string | null | undefined;
  /**
   * Every other attribute that rules may ask for. It never stands in for one of the four above. Any object type will do,
   * an interface too, whose members are strings, numbers or booleans.
   */
  readonly customAttributes?:
    | { readonly [Name in keyof Custom]: AttributeValue }
    | null
    | undefined;
}
