const { request } = require("node:http");

/** A transport for environments that have no `fetch`. */
exports.send = ({ method, url, headers, body }) =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, async (response) => {
      let body = "";
      for await (const text of response.setEncoding("utf8")) {
        body += text;
      }
      const get = (name) => response.headers[name.toLowerCase()];
      resolve({ status: response.statusCode, headers: { get }, body });
    });
    sent.on("error", reject);
    sent.end(body);
  });
