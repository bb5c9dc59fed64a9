import { directionOf, type PortalLanguage } from '../portal/languages.ts'

/** A part of a mail, in words; it may contain placeholders that are filled in later. */
export type Part =
  | { kind: 'paragraph'; text: string }
  /** The key or the like, on a line of its own. */
  | { kind: 'code'; text: string }
  | { kind: 'facts'; facts: readonly (readonly [name: string, value: string])[] }
  /** A page to open. */
  | { kind: 'link'; label: string; url: string }
  /** The vendor's logo, only in HTML. */
  | { kind: 'logo'; name: string }
  /** The vendor's last lines. */
  | { kind: 'footer'; text: string }

export const paragraph = (text: string): Part => ({ kind: 'paragraph', text })

/** The content as plain text. */
export const asText = (parts: readonly Part[]): string =>
  `${parts.flatMap((part) => (part.kind === 'logo' ? [] : [textOf(part)])).join('\n\n')}\n`

function textOf(part: Exclude<Part, { kind: 'logo' }>): string {
  switch (part.kind) {
    case 'paragraph':
    case 'footer':
      return part.text
    case 'code':
      return `    ${part.text}`
    case 'facts':
      return part.facts.map(([name, value]) => `${name}: ${value}`).join('\n')
    case 'link':
      return `    ${part.url}`
  }
}

/**
 * The content as a page of its own, light or dark as the reader's mail program is. Programs that drop the style sheet show
 * it light.
 */
export const asHtml = (language: PortalLanguage, title: string, parts: readonly Part[]): string =>
  `<!doctype html>
<html lang="${language}"${directionOf(language) ? ' dir="rtl"' : ''}>
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <meta name="color-scheme" content="light dark">
    <title>${escapeHtml(title)}</title>
    <style>
      @media (prefers-color-scheme: dark) {
        .page { background: #161615 !important; color: #ededea !important }
        .sheet { background: #232326 !important }
        .code { background: #161615 !important }
        .name { color: #b4b4ae !important }
        .button { background: #ededea !important; color: #161615 !important }
      }
    </style>
  </head>
  <body class="page" style="margin:0;padding:24px 12px;background:#f4f4f1;color:#1d1d1b;font:16px/1.5 system-ui,sans-serif">
    <div class="sheet" style="max-width:560px;margin:0 auto;padding:8px 28px;background:#fff;border-radius:8px">
${parts.map((part) => `      ${htmlOf(part)}\n`).join('')}    </div>
  </body>
</html>
`

const codeStyle =
  'padding:16px;background:#f4f4f1;border-radius:6px;font:600 16px/1.4 ui-monospace,monospace;overflow-wrap:anywhere'
const buttonStyle =
  'display:inline-block;padding:10px 18px;background:#1d1d1b;color:#fff;border-radius:6px;font-weight:600;text-decoration:none'

function htmlOf(part: Part): string {
  switch (part.kind) {
    case 'paragraph':
      return `<p style="overflow-wrap:anywhere">${lines(part.text)}</p>`
    case 'code':
      return `<p class="code" style="${codeStyle}">${escapeHtml(part.text)}</p>`
    case 'facts':
      return `<p style="overflow-wrap:anywhere">${part.facts.map(factOf).join('<br>')}</p>`
    case 'link':
      return `<p><a class="button" style="${buttonStyle}" href="${escapeHtml(part.url)}">${escapeHtml(part.label)}</a></p>`
    case 'logo':
      return `<p><img src="${logoSource}" alt="${escapeHtml(part.name)}" style="max-height:48px;max-width:240px"></p>`
    case 'footer':
      return `<p class="name" style="color:#5f5f5a;font-size:13px;white-space:pre-line;overflow-wrap:anywhere">${escapeHtml(part.text)}</p>`
  }
}

/** By which the HTML of a mail refers to the logo that is sent with it. */
export const logoSource = 'cid:logo'

const factOf = ([name, value]: readonly [string, string]): string =>
  `<span class="name" style="color:#5f5f5a">${escapeHtml(name)}:</span> ${escapeHtml(value)}`

const lines = (text: string): string => escapeHtml(text).replaceAll('\n', '<br>')

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** The text as it stands in HTML. */
export const escapeHtml = (value: string): string =>
  value.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)
