import { type Lesson, learnClassifiers } from "./learn.ts";

/** The process that learns: sent a lesson, it answers with what was learned, as JSON, and ends. */

process.once("message", (lesson: Lesson) => {
  process.send?.(JSON.stringify(learnClassifiers(lesson)), () => {
    // Whoever sent the lesson may be gone.
    if (process.connected) process.disconnect();
  });
});
