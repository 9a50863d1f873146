/** The reason why a text is not YAML, and its position. */
export class YamlError extends Error {
  constructor(
    message: string,
    /** In UTF-16 units from the beginning of the text. */
    readonly offset: number,
    /** The same message without a quotation of the text. */
    readonly unquoted = message,
  ) {
    super(message);
    this.name = 'YamlError';
  }
}
