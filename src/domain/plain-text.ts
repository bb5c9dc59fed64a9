/**
 * Characters that show nothing, or that change how the text around them reads:
 *
 * | class                          | what it holds                                                            |
 * | ------------------------------ | ------------------------------------------------------------------------ |
 * | `Cc`                           | control characters, among them those that begin a terminal's escapes       |
 * | `Cf`                           | format characters: marks and isolates of direction, zero-width joiners, tags |
 * | `Default_Ignorable_Code_Point` | whatever else is drawn as nothing: fillers, variation selectors, soft hyphens |
 * | `Cs`, `Co`, `Cn`               | half a surrogate pair, private use, unassigned: no one knows how they look |
 * | U+2800                         | the empty Braille pattern, a blank that is no space                        |
 */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** As {@link plainText}, with spaces and line breaks as they are. */
export const withoutInvisible = (text: string): string => text.replace(invisibleInLines, '')

/** Line breaks and tabs are control characters too. */
const invisibleInLines = new RegExp(`(?![\\t\\n\\r])${invisible.source}`, 'gu')

/** Line breaks and every kind of space, which part words. */
const separators = /[\s\u0085\p{Z}]+/gu

/**
 * Text from outside as people may be shown it: on one line, without control, bidirectional or invisible characters.
 * Spaces and line breaks, however many, become one space.
 * @param text names, reasons, user agents, URLs: whatever a caller has given
 */
export const plainText = (text: string): string => text.replace(separators, ' ').replace(invisible, '').trim()

/**
 * {@link plainText} in quotation marks, so that a sentence shows where the words of somebody else begin and end. Such
 * marks of their own become straight ones.
 */
export const quoted = (text: string): string => `“${plainText(text).replace(/[“”„‟«»]/g, '"')}”`

/**
 * The same text for programs: what cannot be seen is written as `\uXXXX`, which means the same within the texts of
 * JSON. Line breaks and tabs, which JSON has only between its values, stay.
 * @param json a value written as JSON
 */
export const withEscapedInvisible = (json: string): string =>
  json.replace(invisibleInLines, (character) =>
    Array.from(
      { length: character.length },
      (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
