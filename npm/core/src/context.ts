/**
 * Whom a flag is evaluated for.
 *
 * A value that the service would refuse (another type than the one named here, a number that is not finite) counts as
 * absent, and so does `null`. Only own properties are read.
 */
export interface EvaluationContext {
  /** Targeting, and the bucketing of `per_user` rollouts. */
  readonly userId?: string | null | undefined;
  /** Targeting, and the bucketing of `per_tenant` rollouts. */
  readonly tenantId?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly country?: string | null | undefined;
  /** Every other attribute that rules may ask for. It never stands in for one of the four above. */
  readonly customAttributes?:
    | Readonly<Record<string, string | number | boolean | null | undefined>>
    | null
    | undefined;
}
