import { importRow } from "../outside.mjs";

export default importRow("limiters");
