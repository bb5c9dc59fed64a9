import type { Seen } from './client.ts'

/** The values of a page's fields, as a browser without JavaScript would send them. */
export function fieldsOf({ text }: Seen): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [tag] of text.matchAll(/<input[^>]*>/g)) {
    const name = /\sname="([^"]*)"/.exec(tag)?.[1]
    const isBox = /type="checkbox"/.test(tag)
    const isChoice = isBox || /type="radio"/.test(tag)
    if (name === undefined || (isChoice && !/\schecked/.test(tag))) continue
    fields[name] = isBox ? 'on' : unescaped(/\svalue="([^"]*)"/.exec(tag)?.[1] ?? '')
  }
  for (const [, name = '', body = ''] of text.matchAll(
    /<select[^>]*\sname="([^"]*)"[^>]*>(.*?)<\/select>/gs,
  )) {
    const options = [...body.matchAll(/<option[^>]*>/g)].map(([option]) => option)
    const chosen = options.find((option) => /\sselected/.test(option)) ?? options[0] ?? ''
    fields[name] = unescaped(/\svalue="([^"]*)"/.exec(chosen)?.[1] ?? '')
  }
  for (const [, name = '', body = ''] of text.matchAll(
    /<textarea[^>]*\sname="([^"]*)"[^>]*>\n?(.*?)<\/textarea/gs,
  ))
    fields[name] = unescaped(body)
  return fields
}

const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')

/** The text of a page without its tags. */
export const wordsOf = ({ text }: Seen): string =>
  unescaped(text.replaceAll(/<[^>]+>/g, ' ')).replaceAll(/\s+/g, ' ')
