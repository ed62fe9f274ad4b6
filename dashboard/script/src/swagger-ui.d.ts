declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  /** Shows a description of an API. Its documentation calls the options "configuration". */
  export default function SwaggerUI(options: Readonly<Record<string, unknown>>): void;
}
