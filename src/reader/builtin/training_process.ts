import { learnClassifiers, type TrainingSet } from "./learn.ts";

/** The process that learns: sent a lesson, it answers with what was learned, as JSON, and ends. */

process.once("message", (lesson: TrainingSet) => {
  process.send?.(JSON.stringify(learnClassifiers(lesson)), () => {
    // Whoever sent the lesson may be gone.
    if (process.connected) process.disconnect();
  });
});
