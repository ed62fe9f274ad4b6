// The part that every worker needs: a start, and a fetch of the flags.

export default {
  async fetch(_request, { SERVICE }) {
    const response = await fetch(`${SERVICE}/sdk/v1/config`);
    const { flags } = await response.json();
    return new Response(String(flags[0].enabled));
  },
};
