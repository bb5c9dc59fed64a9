import type { FieldChange } from '../../../projections/audit/fields.ts'
import { findOperation } from '../../gate/registry.ts'
import { type Content, type Html, html } from '../../html.ts'
import { moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { choicesOf, empty, filters, heading, pager, select, table } from '../frame/parts.ts'
import { foundByWords } from '../search/view.ts'
import { auditPath, type ShownEntry, type ShownFilter } from './filter.ts'
import { actionWords, kindWords, viaWords, wordsOf } from './labels.ts'

/** An actor that the filter offers. */
export type Person = { actor: string; name: string }

type Audit = {
  entries: readonly ShownEntry[]
  people: readonly Person[]
  shown: ShownFilter
  cursor: string | undefined
  next: string | null
}

const path = '/dashboard/audit'

export function auditView(view: View, { entries, people, shown, cursor, next }: Audit): Html {
  const isFiltered = Object.values(shown).some((value) => value !== undefined)
  return html`<div>
    ${heading('Audit log', 'Who viewed, exported, decided and changed what, from where, and who signed in, newest first. Views of this page are recorded too.')}
    ${filters(path, 'audit', [
      select(
        'actor',
        'Person',
        choicesOf(
          'Anyone',
          people.map(({ actor, name }) => [actor, name] as const),
          shown.actor,
        ),
      ),
      select('action', 'Action', choicesOf('Any action', namesIn(actionWords), shown.action)),
      select('kind', 'Kind', choicesOf('Any kind', namesIn(kindWords), shown.kind)),
      select('via', 'From', choicesOf('Anywhere', namesIn(viaWords), shown.via)),
      box('target', 'ID', 'text', shown.target),
      box('from', 'First day', 'date', shown.from),
      box('to', 'Last day', 'date', shown.to),
    ])}
    <div id="audit">
      <p class="lead">
        ${isFiltered && html`<a href=${path}>Clear filters</a>`}${isFiltered && ' · '}Download these entries as${' '}
        <a href=${auditPath(shown, `${path}/export.csv`)} download>CSV</a> or${' '}
        <a href=${auditPath(shown, `${path}/export.ndjson`)} download>NDJSON</a>.
      </p>
      ${
        entries.length === 0
          ? empty('No entries match these filters', 'Choose another action, or clear the filters.')
          : html`<div class="sheeted">${auditTable(view, entries, shown)}</div>`
      }
      ${pager(path, { ...shown, cursor }, next)}
    </div>
  </div>`
}

/** Labels without the colon of a sentence. */
const namesIn = (words: Readonly<Record<string, string>>) =>
  Object.entries(words).map(([name, label]) => [name, label.replace(/:$/, '')] as const)

const box = (name: string, label: string, type: 'text' | 'date', value: string | undefined): Html =>
  html`<div class="field">
    <label for=${name}>${label}</label>
    <input id=${name} name=${name} type=${type} value=${value ?? ''} maxlength="200" autocomplete="off" />
  </div>`

function auditTable(view: View, entries: Audit['entries'], shown: ShownFilter): Html {
  return table({
    caption: 'Audit log',
    columns: [{ label: 'Time' }, { label: 'By' }, { label: 'Action' }, { label: 'Request', wide: true }],
    rows: entries.map((entry): Content[] => [
      html`<span>${moment(entry.at)}${entry.lastAt !== null && html`<span class="sub">last ${moment(entry.lastAt)}</span>`}</span>`,
      html`<span><a href=${auditPath({ ...shown, actor: entry.actor })}>${entry.who}</a><span class="sub">${viaWords[entry.via]}${entry.address !== null && html`, <code>${entry.address}</code>`}</span></span>`,
      what(view, entry),
      html`<code>${entry.requestId}</code>`,
    ]),
  })
}

/** Actions that need no object: who signed in is the person of the line, and the checklist is the workspace's. */
const withoutObject: ReadonlySet<string> = new Set(['signed_in', 'onboarding_dismissed'])

function what(view: View, entry: ShownEntry): Html {
  const { action, operation, targetKind, targetId, confirmationId, times, changes } = entry
  const verb = wordsOf(actionWords, action)
  const object = withoutObject.has(action)
    ? null
    : operation === null
      ? thing(view, entry)
      : (findOperation(operation)?.title.toLowerCase() ?? operation)
  return html`<span
    >${verb} ${object}${times > 1 && `, ${times.toLocaleString('en')} times`}${
      changes.length > 0 &&
      html`<ul class="audit-changes">
        ${changes.map(changeLine)}
      </ul>`
    }${
      confirmationId !== null &&
      html`<span class="sub audit-more"><a href=${`/dashboard/approvals/${confirmationId}`}>View request</a></span>`
    }${
      targetId !== null &&
      targetKind !== 'search' &&
      html`<span class="sub audit-more"><a href=${auditPath({ target: targetId })}>All entries for this target</a></span>`
    }</span
  >`
}

/** `name: Editor → Editor 2`; of a new value only what it is, and of a removed one that it is gone. */
const changeLine = ({ field, before, after }: FieldChange): Html =>
  html`<li>
    ${fieldWords(field)}: ${before !== null && html`<del>${String(before)}</del>`}${before !== null && ' → '}${after === null ? 'none' : html`<ins>${String(after)}</ins>`}
  </li>`

/** `testMode.enabled` is `test mode enabled`; the downloads keep the names of the API. */
const fieldWords = (field: string): string =>
  field
    .replaceAll('.', ' ')
    .replaceAll(/(?<=[a-z])[A-Z]/g, ' $&')
    .toLowerCase()

/** The folders of the pages of targets. */
const pages: Readonly<Record<string, string>> = {
  license: 'licenses',
  customer: 'customers',
  sale: 'sales',
  delivery: 'deliveries',
  evidence: 'licenses',
  product: 'products',
  member: 'members',
}

function thing(view: View, { targetKind: kind, targetId: id, targetName, asOf }: ShownEntry): Content {
  if (kind === 'search')
    return id === null || id === 'nothing found' ? 'nothing found' : `found by ${foundByWords(id)}`
  const name = wordsOf(kindWords, kind)
  if (id === null) return `the ${name}`
  const folder = kind !== 'member' || view.may('manage_members') ? pages[kind] : undefined
  const words =
    nameOfTarget(kind, id, targetName) ??
    (kind === 'evidence' ? 'the evidence of a license' : `${articleOf(name)} ${name}`)
  const moments = asOf === null ? '' : `, as of ${asOf}`
  if (folder === undefined)
    return html`<span>${words}${targetName === null && html` <code>${id}</code>`}${moments}</span>`
  const query = asOf === null ? '' : `?${new URLSearchParams({ asOf })}`
  return html`<span><a href=${`/dashboard/${folder}/${id}${query}`}>${words}</a>${moments}</span>`
}

/** What is called by a name that people know; null for what has only an id that they do not read. */
function nameOfTarget(kind: string, id: string, name: string | null): string | null {
  if (kind === 'member' && name !== null) return `member ${name.replace(/^member /, '')}`
  return kind === 'product' ? `product ${id}` : name
}

const articleOf = (name: string): string =>
  name.startsWith('mail ') ? 'the' : /^[aeio]|^API|^SDK/.test(name) ? 'an' : 'a'
