export { default as pMap } from "p-map";
