import type { AuditEntry } from '../../../projections/audit/queries.ts'
import { findOperation } from '../../gate/registry.ts'
import { type Content, type Html, html } from '../../html.ts'
import { moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { asNamed, choicesOf, empty, filters, heading, pager, select, table } from '../frame/parts.ts'
import { foundByWords } from '../search/view.ts'

type Filter = { actor: string | undefined; action: string | undefined; target: string | undefined }

type Audit = {
  entries: readonly (AuditEntry & { who: string })[]
  filter: Filter
  cursor: string | undefined
  next: string | null
}

const actionWords: Record<string, string> = {
  viewed: 'viewed',
  searched: 'searched:',
  exported: 'exported',
  revealed: 'revealed',
  rebuilt: 'rebuilt',
  asked: 'requested:',
  approved: 'approved:',
  denied: 'denied:',
  withdrawn: 'withdrew approval:',
  executed: 'executed:',
  refused: 'execution refused:',
  required: 'turned on the rule:',
  no_longer_required: 'turned off the rule:',
}

const path = '/dashboard/audit'

function address(filter: Partial<Filter>): string {
  const given = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

export function auditView(_view: View, { entries, filter, cursor, next }: Audit): Html {
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const otherFilters = (['actor', 'target'] as const).flatMap((name) =>
    filter[name] === undefined ? [] : html`<input type="hidden" name=${name} value=${filter[name]} />`,
  )
  return html`<div>
    ${heading('Audit log', 'Views, searches, exports and decisions of members and API tokens, newest first. Views of this page are recorded too.')}
    ${filters(path, 'audit', [
      ...otherFilters,
      select('action', 'Action', choicesOf('Any action', asNamed(Object.keys(actionWords)), filter.action)),
    ])}
    <div id="audit">
      ${isFiltered && html`<p class="lead">${narrowed(filter)} <a href=${path}>Clear filters</a></p>`}
      ${
        entries.length === 0
          ? empty('No entries match these filters', 'Choose another action, or clear the filters.')
          : html`<div class="sheeted">${auditTable(entries, filter)}</div>`
      }
      ${pager(path, { ...filter, cursor }, next)}
    </div>
  </div>`
}

const narrowed = ({ actor, action, target }: Filter): string =>
  `Filtered by ${[action, actor, target].filter((part) => part !== undefined).join(', ')}.`

function auditTable(entries: Audit['entries'], filter: Filter): Html {
  return table({
    caption: 'Audit log',
    columns: [{ label: 'Time' }, { label: 'Actor' }, { label: 'Action' }, { label: 'Request', wide: true }],
    rows: entries.map((entry): Content[] => [
      moment(entry.at),
      html`<a href=${address({ ...filter, actor: entry.actor })}>${entry.who}</a>`,
      what(entry),
      html`<code>${entry.requestId}</code>`,
    ]),
  })
}

function what({ action, operation, targetKind, targetId, asOf, confirmationId }: AuditEntry): Html {
  const verb = actionWords[action] ?? action
  const object =
    operation === null
      ? thing(targetKind, targetId, asOf)
      : (findOperation(operation)?.title.toLowerCase() ?? operation)
  return html`<span
    >${verb} ${object}${
      confirmationId !== null &&
      html`<span class="sub"><a href=${`/dashboard/approvals/${confirmationId}`}>View request</a></span>`
    }${
      targetId !== null &&
      targetKind !== 'search' &&
      html`<span class="sub"><a href=${address({ target: targetId })}>All entries for this target</a></span>`
    }</span
  >`
}

const pages: Record<string, string> = {
  license: 'licenses',
  customer: 'customers',
  sale: 'sales',
  delivery: 'deliveries',
  evidence: 'licenses',
}

const wholes: Record<string, string> = { audit: 'audit log', read_models: 'read models' }

function thing(kind: string, id: string | null, asOf: string | null): Content {
  if (kind === 'search')
    return id === null || id === 'nothing found' ? 'nothing found' : `found by ${foundByWords(id)}`
  if (id === null) return `the ${wholes[kind] ?? kind}`
  const folder = pages[kind]
  const words = kind === 'evidence' ? 'the evidence of a license' : `a ${kind}`
  const moments = asOf === null ? '' : `, as of ${asOf}`
  if (folder === undefined) return html`<span>${words} <code>${id}</code>${moments}</span>`
  const query = asOf === null ? '' : `?${new URLSearchParams({ asOf })}`
  return html`<span><a href=${`/dashboard/${folder}/${id}${query}`}>${words}</a>${moments}</span>`
}
