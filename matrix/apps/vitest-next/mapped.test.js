import "./expectations.js";
