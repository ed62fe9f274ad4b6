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
import type { Connection } from "./internal/connection.js";
import { clientToken, connectionToken, DEFAULT, requestToken } from "./internal/tokens.js";

/** Injects the client itself, which is for nobody in particular: `client.evaluate(key, context)`. */
export function InjectFeatureFlags(name: string = DEFAULT): PropertyDecorator & ParameterDecorator {
  return Inject(clientToken(name));
}

/** Injects the `FeatureFlags` of a client that has a name. */
export function InjectRequestFlags(name: string = DEFAULT): PropertyDecorator & ParameterDecorator {
  return Inject(requestToken(name));
}

/** The token of a client, for `app.get()`. */
export function getFeatureFlagsToken(name: string = DEFAULT): string {
  return clientToken(name);
}

export interface RequireFlagOptions {
  /** What is answered where the flag is not on. Default 404, which looks as if there were no such route. */
  readonly status?: number | undefined;
  /** The name of the client that is asked. */
  readonly client?: string | undefined;
}

/** Lets requests through to a controller or a handler only if the flag is on for whom they are from. */
export function RequireFlag(
  key: FlagKey,
  { status = 404, client = DEFAULT }: RequireFlagOptions = {},
): ClassDecorator & MethodDecorator {
  class FlagGuard implements CanActivate {
    readonly #connection: Connection;

    constructor(@Inject(connectionToken(client)) connection: Connection) {
      this.#connection = connection;
    }

    canActivate(execution: ExecutionContext): boolean {
      const request = execution.switchToHttp().getRequest();
      if (this.#connection.read(key, request)?.enabled) {
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
  /** What the parameter is where there is no answer. Default false. */
  readonly fallback?: boolean | undefined;
  /** The name of the client that is asked. */
  readonly client?: string | undefined;
}

/** A parameter of a handler: whether the flag is on for whom the request is from. */
export function FlagValue(
  key: FlagKey,
  { fallback = false, client = DEFAULT }: FlagValueOptions = {},
): ParameterDecorator {
  class FlagPipe implements PipeTransform {
    readonly #connection: Connection;

    constructor(@Inject(connectionToken(client)) connection: Connection) {
      this.#connection = connection;
    }

    transform(getRequest: () => unknown): boolean {
      return this.#connection.read(key, getRequest())?.enabled ?? fallback;
    }
  }
  return HttpRequest(mixin(FlagPipe));
}

/** Nest injects into pipes only. It is a function, because the application's own pipes come first and must not see a request. */
const HttpRequest = createParamDecorator(
  (_: unknown, execution: ExecutionContext) => () => execution.switchToHttp().getRequest(),
);
