import { type Tools, task } from "../task.ts";

/** Begins to send what is due to one webhook. */
export const deliverWebhook = ({ deliver }: Tools) => task(({ id }) => deliver(id));
