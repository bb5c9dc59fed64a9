import { html as htm } from 'htm/preact'
import { type ComponentChildren, options, type VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { withoutInvisible } from './domain/plain-text.ts'

/** A part of a page. Whatever text it holds is escaped when it is rendered. */
export type Html = VNode

/** What may stand between tags. */
export type Content = Html | string | number | null | undefined | false | readonly Content[]

/** Of every element's text; attributes stay as they are, and so does what goes back from a text area. */
options.vnode = ({ type, props }) => {
  if (type !== 'textarea') props.children = shown(props.children)
}

function shown(content: ComponentChildren): ComponentChildren {
  if (typeof content === 'string') return withoutInvisible(content)
  return Array.isArray(content) ? content.map(shown) : content
}

/**
 * Tagged templates of one element each. Only text, numbers, other parts and attribute values can be filled in. Text is
 * shown without characters that nobody sees, or that turn the direction of writing.
 */
export function html(strings: TemplateStringsArray, ...holes: readonly (Content | boolean)[]): Html {
  return htm(strings, ...holes)
}

export const documentOf = (root: Html): string => `<!doctype html>\n${partOf(root)}`

export const partOf = (root: Html): string => renderToString(root)
