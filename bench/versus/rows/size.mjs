import { sizeRow } from "../outside.mjs";

export default sizeRow("limiters");
