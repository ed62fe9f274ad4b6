import { fetchTransport } from "@pennon/core";

const withTeam = (request) => ({ ...request, headers: { ...request.headers, "X-Team": "shop" } });

export const transport = {
  send: (request) => fetchTransport.send(withTeam(request)),
  open: (request) => fetchTransport.open(withTeam(request)), // for `streaming` only
};
