import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  HttpException,
  Inject,
  mixin,
  NotFoundException,
  type PipeTransform,
  UseGuards,
} from "@nestjs/common";
import type { FlagKey } from "@pennon/core";
import type { RequestEvaluator } from "./internal/request-evaluator.js";
import { clientToken, DEFAULT, evaluatorToken, requestToken } from "./internal/tokens.js";

/** Injects the client itself, for evaluations that are not bound to a request: `client.evaluate(key, context)`. */
export function InjectFeatureFlags(name: string = DEFAULT): PropertyDecorator & ParameterDecorator {
  return Inject(clientToken(name));
}

/** Injects the request-scoped `FeatureFlags` of the client with this name. */
export function InjectRequestFlags(name: string = DEFAULT): PropertyDecorator & ParameterDecorator {
  return Inject(requestToken(name));
}

/** Returns the injection token of a client, for `app.get()`, and for `overrideProvider()` in a test. */
export function getFeatureFlagsToken(name: string = DEFAULT): string {
  return clientToken(name);
}

export interface RequireFlagOptions {
  /** The status of the response if the flag is off. Default 404, as if the route did not exist. */
  readonly status?: number | undefined;
  /** The name of the client. Default: the client without a name. */
  readonly client?: string | undefined;
}

/** Allows requests to a controller or handler only if the flag is on for the context of the request. */
export function RequireFlag(
  key: FlagKey,
  { status = 404, client = DEFAULT }: RequireFlagOptions = {},
): ClassDecorator & MethodDecorator {
  class FlagGuard implements CanActivate {
    readonly #evaluator: RequestEvaluator;

    constructor(@Inject(evaluatorToken(client)) evaluator: RequestEvaluator) {
      this.#evaluator = evaluator;
    }

    canActivate(execution: ExecutionContext): boolean {
      const request = execution.switchToHttp().getRequest();
      if (this.#evaluator.read(key, request)?.enabled) {
        return true;
      }
      throw status === 404
        ? new NotFoundException(`Cannot ${request?.method} ${request?.originalUrl}`)
        : new HttpException("Not available", status);
    }
  }
  return UseGuards(mixin(FlagGuard));
}

export interface FlagValueOptions {
  /** The value of the parameter if the flag cannot be evaluated. Default false. */
  readonly fallback?: boolean | undefined;
  /** The name of the client. Default: the client without a name. */
  readonly client?: string | undefined;
}

/** Injects the value of the flag for the context of the request into a handler's parameter, as a boolean. */
export function FlagValue(
  key: FlagKey,
  { fallback = false, client = DEFAULT }: FlagValueOptions = {},
): ParameterDecorator {
  class FlagPipe implements PipeTransform {
    readonly #evaluator: RequestEvaluator;

    constructor(@Inject(evaluatorToken(client)) evaluator: RequestEvaluator) {
      this.#evaluator = evaluator;
    }

    transform(getRequest: () => unknown): boolean {
      return this.#evaluator.read(key, getRequest())?.enabled ?? fallback;
    }
  }
  return HttpRequest(mixin(FlagPipe));
}

/**
 * The request as a pipe's input, because Nest injects dependencies only into pipes. A function wraps it, because the
 * application's own pipes run first and must not validate it.
 */
const HttpRequest = createParamDecorator(
  (_: unknown, execution: ExecutionContext) => () => execution.switchToHttp().getRequest(),
);
