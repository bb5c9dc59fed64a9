/**
 * Characters that show nothing, or that change how the text around them reads:
 *
 * | class                          | what it holds                                                                  |
 * | ------------------------------ | ------------------------------------------------------------------------------ |
 * | `Cc`                           | control characters, including those that begin terminal escape sequences       |
 * | `Cf`                           | format characters: direction marks and isolates, zero-width joiners, tags      |
 * | `Default_Ignorable_Code_Point` | other characters without a glyph: fillers, variation selectors, soft hyphens   |
 * | `Cs`, `Co`, `Cn`               | lone surrogates, private use, unassigned: their appearance is undefined        |
 * | U+2800                         | the empty Braille pattern, which looks like a space                            |
 */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** As {@link plainText}, but spaces and line breaks are left unchanged. */
export const withoutInvisible = (text: string): string => text.replace(invisibleInLines, '')

/** The same without tabs and line breaks, which are control characters too. */
const invisibleInLines = new RegExp(`(?![\\t\\n\\r])${invisible.source}`, 'gu')

/** Line breaks and every kind of space. */
const separators = /[\s\u0085\p{Z}]+/gu

/**
 * Text from outside in a form that is safe to show: on one line, without control, bidirectional or invisible
 * characters. Each run of spaces and line breaks becomes one space.
 * @param text any text from a caller: names, reasons, user agents, URLs
 */
export const plainText = (text: string): string => text.replace(separators, ' ').replace(invisible, '').trim()

/**
 * {@link plainText} in quotation marks, so that readers see where foreign text begins and ends. Quotation
 * marks inside the text become straight ones.
 */
export const quoted = (text: string): string => `“${plainText(text).replace(/[“”„‟«»]/g, '"')}”`

/**
 * The same for programs: invisible characters are written as `\uXXXX`, which has the same meaning inside JSON
 * strings. Line breaks and tabs stay, since JSON has them only between values.
 * @param json a value written as JSON
 */
export const withEscapedInvisible = (json: string): string =>
  json.replace(invisibleInLines, (character) =>
    Array.from(
      { length: character.length },
      (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
