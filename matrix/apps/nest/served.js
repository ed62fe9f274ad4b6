/** Returns a client class for `evaluateVectors` that reads flags from a NestJS application over HTTP. */
export function served({ Body, Controller, Inject, Module, Post }, { NestFactory }, pennon) {
  const { FeatureFlags, FeatureFlagsModule, getFeatureFlagsToken } = pennon;

  // The decorators are applied below, as a compiler would apply them.
  class FlagsController {
    constructor(flags) {
      this.flags = flags;
    }

    read({ key }) {
      return { evaluation: this.flags.read(key) };
    }
  }
  Inject(FeatureFlags)(FlagsController, undefined, 0);
  Body()(FlagsController.prototype, "read", 0);
  Post()(
    FlagsController.prototype,
    "read",
    Object.getOwnPropertyDescriptor(FlagsController.prototype, "read"),
  );
  Controller()(FlagsController);

  return class {
    constructor(options) {
      this.module = class {};
      const context = ({ body }) => body.context;
      const flags = FeatureFlagsModule.forRoot({ options, context, required: true });
      Module({ imports: [flags], controllers: [FlagsController] })(this.module);
    }

    async initialize() {
      this.application = await NestFactory.create(this.module, { logger: false });
      await this.application.listen(0, "127.0.0.1");
      this.url = await this.application.getUrl();
    }

    async read(key, context) {
      const response = await fetch(this.url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ key, context }),
      });
      return (await response.json()).evaluation;
    }

    evaluateRemote(key, context) {
      return this.application.get(getFeatureFlagsToken()).evaluateRemote(key, context);
    }

    shutdown() {
      return this.application.close();
    }
  };
}
