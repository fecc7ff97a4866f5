import { sizeRow } from "../outside.mjs";

export default sizeRow("containers");
