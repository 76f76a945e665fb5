import { parentPort, workerData } from "node:worker_threads";
import { type Lesson, learnClassifiers } from "./learn.ts";

/** The thread that learns: given a lesson, it answers with what was learned, as JSON, and ends. */

parentPort?.postMessage(JSON.stringify(learnClassifiers(workerData as Lesson)));
