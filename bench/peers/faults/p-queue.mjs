import PQueue from "p-queue";
import { runners } from "./p-queue-runners.mjs";

export const { fixed, strict } = runners(PQueue);
