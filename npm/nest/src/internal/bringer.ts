import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  mixin,
  type Type,
  UseGuards,
} from "@nestjs/common";
import type { Connection } from "./connection.js";
import { connectionToken } from "./tokens.js";

const bringers = new Map<string, Bringer>();

/**
 * Brings a client's connection to where the values of parameters are made, which is where Nest injects nothing: a guard that
 * lets everything through finds it in the application that a request came to, and leaves it by the request.
 */
export class Bringer {
  readonly #guard: Type<CanActivate>;
  readonly #connections = new WeakMap<object, Connection>();
  readonly #controllers = new WeakSet<object>();

  private constructor(name: string) {
    const connections = this.#connections;
    class Guard implements CanActivate {
      readonly #connection: Connection;

      constructor(@Inject(connectionToken(name)) connection: Connection) {
        this.#connection = connection;
      }

      canActivate(execution: ExecutionContext): boolean {
        connections.set(execution.switchToHttp().getRequest(), this.#connection);
        return true;
      }
    }
    this.#guard = mixin(Guard);
  }

  /** The one for all parameters that ask this client. */
  static of(name: string): Bringer {
    const bringer = bringers.get(name) ?? new Bringer(name);
    bringers.set(name, bringer);
    return bringer;
  }

  /** Brings the connection to this controller. */
  serve(controller: NewableFunction): void {
    if (!this.#controllers.has(controller)) {
      this.#controllers.add(controller);
      UseGuards(this.#guard)(controller);
    }
  }

  /** What was brought for a request. */
  connection(request: object): Connection | undefined {
    return this.#connections.get(request);
  }
}
