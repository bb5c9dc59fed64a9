import { html as htm } from 'htm/preact'
import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'

/** A part of a page. Whatever text it holds is escaped when it is rendered. */
export type Html = VNode

/** What may stand between tags. */
export type Content = Html | string | number | null | undefined | false | readonly Content[]

/** Tagged templates of one element each. Only text, numbers, other parts and attribute values can be filled in. */
export function html(strings: TemplateStringsArray, ...holes: readonly (Content | boolean)[]): Html {
  return htm(strings, ...holes)
}

export const documentOf = (root: Html): string => `<!doctype html>\n${partOf(root)}`

export const partOf = (root: Html): string => renderToString(root)
