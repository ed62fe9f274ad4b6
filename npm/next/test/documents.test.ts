import { describeDocument } from "../../test-kit/code-blocks.ts";

const snippets = "npm/next/test/snippets/";

describeDocument("npm/next/README.md", [snippets]);
describeDocument("docs/next.md", [
  "examples/next-app/",
  "examples/next-app/app/",
  "examples/next-app/app/flags/",
  "examples/next-app/components/",
  snippets,
]);
