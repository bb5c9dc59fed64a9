/** Writes the tables of operations in `docs/reference/http.md` from the OpenAPI document. */

type Operation = {
  tags: [string]
  summary: string
  security?: Record<string, string[]>[]
  parameters?: { name: string }[]
}
type Document = {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  security: Record<string, string[]>[]
}

const begin = '<!-- operations -->'
const end = '<!-- end of operations -->'

/** Described on pages of their own. */
const elsewhere = new Set(['Client', 'Checkout', 'Notifications'])

/** What a caller presents, besides an access token. */
const credentials: Record<string, string> = {
  metricsToken: "the installation's metrics token",
}

function scopeOf({ security }: Operation, usual: Document['security']): string {
  const [way] = security ?? usual
  const [credential, scopes = []] = Object.entries(way ?? {})[0] ?? []
  if (credential === undefined) return 'none'
  if (credential !== 'accessToken') return credentials[credential] ?? credential
  return scopes.length === 0 ? 'any valid token' : scopes.map((scope) => `\`${scope}\``).join(' + ')
}

function gateOf({ parameters = [], security = [] }: Operation): string {
  if (!parameters.some(({ name }) => name === 'X-Service-Confirmation')) return ''
  const always = security.some(({ accessToken = [] }) => accessToken.includes('danger'))
  return always ? ' (gated)' : ' (gated in part)'
}

/** A table of the operations of each tag, in the order of the document. @param text the OpenAPI document */
function operationsTables(text: string): string {
  const { tags, paths, security } = JSON.parse(text) as Document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  return tags
    .filter(({ name }) => !elsewhere.has(name))
    .map(({ name, description }) => {
      const rows = operations
        .filter(({ operation }) => operation.tags.includes(name))
        .map(
          ({ path, method, operation }) =>
            `| \`${method} ${path}\`${gateOf(operation)} | ${scopeOf(operation, security)} | ${operation.summary} |`,
        )
      return [`**${name}.** ${description}.`, '', '|  | scope |  |', '| --- | --- | --- |', ...rows].join(
        '\n',
      )
    })
    .join('\n\n')
}

/** The page with its tables as the document has them. @throws Error for a page without the marks between which they stand */
export function withOperations(page: string, text: string): string {
  const [before, rest] = page.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`the page has no ${begin} … ${end}`)
  return `${before}${begin}\n\n${operationsTables(text)}\n\n${end}${after}`
}
