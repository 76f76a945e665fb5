import { learnMeaning } from "../embed/learn.ts";
import { meaningSetOf } from "../embed/meaning_set.ts";
import { learnClassifiers, type TrainingSet } from "./classifiers.ts";

/**
 * The child process that trains: it receives a training set, answers with the classifiers and the meanings as JSON, and
 * exits.
 */

process.once("message", (trainingSet: TrainingSet) => {
  const learned = { ...learnClassifiers(trainingSet), meaning: learnMeaning(meaningSetOf(trainingSet)) };
  process.send?.(JSON.stringify(learned), () => {
    // The parent process may have ended.
    if (process.connected) process.disconnect();
  });
});
