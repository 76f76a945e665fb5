/** RFC 5321, section 4.5.3.1.3, less the angle brackets. */
const LENGTH = 254;

/**
 * One mailbox and nothing else: no list, no name, no quoted part, no control character. Whether it exists only a mail
 * tells, so the form is not held to more than that.
 */
const MAILBOX = /^[^\s@<>()[\]",:;\\\p{C}]{1,64}@[^\s@<>()[\]",:;\\\p{C}]+\.[^\s@<>()[\]",:;\\.\p{C}]+$/u;

/** An address as it is kept and compared. */
export const normalAddress = (typed: string): string => typed.trim().toLowerCase().normalize("NFC");

/** Whether a text can be a mailbox. */
export const isMailbox = (text: string): boolean => text.length <= LENGTH && MAILBOX.test(text);
