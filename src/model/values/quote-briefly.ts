const LONGEST = 60;

/** Quotes a text for a message, and cuts a long one. */
export const quoteBriefly = (text: string): string => {
  const quoted = JSON.stringify(text.slice(0, LONGEST));
  return text.length > LONGEST ? `${quoted.slice(0, -1)}…"` : quoted;
};
