// @vitest-environment node
import { describeDocument } from "../../test-kit/code-blocks.ts";

describeDocument("npm/react/README.md", ["npm/react/test/snippets/", "npm/react/test/registered/"]);
describeDocument("docs/react.md", [
  "examples/react-vite/",
  "examples/react-vite/src/",
  "npm/react/test/snippets/",
]);
