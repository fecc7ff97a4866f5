import { importRow } from "../outside.mjs";

export default importRow("containers");
