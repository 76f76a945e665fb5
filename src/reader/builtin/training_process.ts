import { learnClassifiers, type TrainingSet } from "./learn.ts";

/** The child process that trains: it receives a training set, answers with the classifiers as JSON, and exits. */

process.once("message", (trainingSet: TrainingSet) => {
  process.send?.(JSON.stringify(learnClassifiers(trainingSet)), () => {
    // The parent process may have ended.
    if (process.connected) process.disconnect();
  });
});
