import PQueue from "p-queue-9";
import { runners } from "./p-queue-runners.mjs";

export const { fixed, strict } = runners(PQueue);
