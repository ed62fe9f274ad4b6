// The page /docs: Swagger UI for the description of the API.

import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";

/** The part of Immutable.js collections that the search uses. */
interface Collection {
  get(key: string): unknown;
  filter(keep: (value: Collection) => boolean): Collection;
  map(change: (value: Collection) => Collection): Collection;
  set(key: string, value: Collection): Collection;
  isEmpty(): boolean;
}

/** Keeps the operations that have each word of a phrase in their method, path, name or summary. */
function search(groups: Collection, phrase: string): Collection {
  const words = phrase.toLowerCase().split(/\s+/);
  const fits = (item: Collection) => {
    const operation = item.get("operation") as Collection;
    const text = [
      item.get("method"),
      item.get("path"),
      operation.get("operationId"),
      operation.get("summary"),
    ].join(" ");
    return words.every((word) => text.toLowerCase().includes(word));
  };
  const operations = (group: Collection) => group.get("operations") as Collection;
  return groups
    .map((group) => group.set("operations", operations(group).filter(fits)))
    .filter((group) => !operations(group).isEmpty());
}

/** Labels the search field, which searches more than Swagger UI's own filter. */
function nameSearch(): void {
  const input = document.querySelector<HTMLInputElement>(".operation-filter-input");
  if (input !== null) {
    input.placeholder = "Search by method, path or summary";
    input.ariaLabel = input.placeholder;
  }
}

/** Focuses the first field of the dialog for credentials. Swagger UI would focus the last one, and scroll to it. */
function focusFirstCredential(): void {
  document.querySelector<HTMLInputElement>(".dialog-ux input")?.focus();
}

document.addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest(".authorize, .authorization__btn")) {
    setTimeout(focusFirstCredential);
  }
});

SwaggerUI({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  docExpansion: "list",
  filter: true,
  syntaxHighlight: { activated: false },
  tryItOutEnabled: true,
  validatorUrl: "none",
  plugins: [() => ({ fn: { opsFilter: search } })],
  onComplete: nameSearch,
});
