import { html as htm } from 'htm/preact'
import { type ComponentChildren, options, type VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { withoutInvisible } from './domain/plain-text.ts'

/** A part of a page. All text in it is escaped when it is rendered. */
export type Html = VNode

/** Everything that may be placed between tags. */
export type Content = Html | string | number | null | undefined | false | readonly Content[]

/**
 * Removes invisible characters from the text of every element. Attributes and text areas are unchanged, because
 * forms send them back.
 */
options.vnode = ({ type, props }) => {
  if (type !== 'textarea') props.children = shown(props.children)
}

function shown(content: ComponentChildren): ComponentChildren {
  if (typeof content === 'string') return withoutInvisible(content)
  return Array.isArray(content) ? content.map(shown) : content
}

/**
 * A tagged template for one element. Holes take text, numbers, parts of a page and attribute values. Invisible
 * characters, and characters that change the writing direction, are removed from text.
 */
export function html(strings: TemplateStringsArray, ...holes: readonly (Content | boolean)[]): Html {
  return htm(strings, ...holes)
}

export const documentOf = (root: Html): string => `<!doctype html>\n${partOf(root)}`

export const partOf = (root: Html): string => renderToString(root)
