export default {
  resolve: {
    alias: {
      "@pennon/next/server": "@pennon/next/testing",
      "@pennon/next/flags": "@pennon/next/testing/flags",
    },
  },
};
