import { type Html, html } from '../../html.ts'
import { utcDayOf } from '../frame/moments.ts'
import { empty, section, table } from '../frame/parts.ts'
import { barPlot } from '../frame/plots.ts'
import type { Insights } from './insights.ts'
import { asTable, card, counted, csvLink } from './parts.ts'

const total = <Row>(rows: readonly Row[], of: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0)

/** Licenses that are active now and expire soon, and what was issued and renewed in the range. */
export function licensesPart({ figures, range, products }: Insights): Html {
  const { licenses, present } = figures
  const nameOf = (id: string) => products.find(({ productId }) => productId === id)?.name ?? id
  return section(
    'Licenses',
    html`<div class="stack">
      <dl class="cards">
        ${card('Active now', counted(total(present, ({ active }) => active)))}
        ${card('Expiring within 30 days', counted(total(present, ({ expiring }) => expiring)))}
        ${card('Issued', counted(total(licenses, ({ issued }) => issued)))}
        ${card('Renewed', counted(total(licenses, ({ renewed }) => renewed)))}
      </dl>
      ${barPlot({
        label: 'Licenses issued per day, renewed in gray',
        by: 'day',
        bars: licenses.map(({ day, issued, renewed }) => ({ at: day, parts: [issued, renewed] })),
        kinds: [
          { className: 'bar', name: 'issued' },
          { className: 'bar-soft', name: 'renewed' },
        ],
      })}
      ${
        present.length > 0 &&
        html`<div class="sheeted">
          ${table({
            caption: 'Active licenses by product',
            columns: [
              { label: 'Product' },
              { label: 'Active now', number: true },
              { label: 'Expiring', number: true },
            ],
            rows: present.map(({ productId, active, expiring }) => [
              html`<a href=${`/dashboard/products/${productId}`}>${nameOf(productId)}</a>`,
              counted(active),
              counted(expiring),
            ]),
          })}
        </div>`
      }
      ${asTable(
        {
          caption: 'Licenses issued and renewed by day',
          columns: [{ label: 'Day' }, { label: 'Issued', number: true }, { label: 'Renewed', number: true }],
          rows: licenses.map(({ day, issued, renewed }) => [
            utcDayOf(day),
            counted(issued),
            counted(renewed),
          ]),
        },
        'licenses',
        range.days,
      )}
    </div>`,
    'A license counts as active through the day on which it expires. Imported licenses do not count as issued.',
  )
}

/** Devices by the version of the app and the platform that they first reported. */
export function versionsPart({ figures, range }: Insights): Html {
  const { versions } = figures
  const devices = total(versions, (row) => row.devices)
  const share = (count: number) => `${Math.round((100 * count) / devices)} %`
  return section(
    'Activations by app version and platform',
    versions.length === 0
      ? empty(
          'No app has reported its version in these days',
          'Apps report it when they activate with the SDK, or with telemetry in their calls.',
          html`<a href="/docs">API reference</a>`,
        )
      : html`<div class="stack-tight">
          <div class="sheeted">
            ${table({
              caption: 'Devices by app version and platform, the most frequent first',
              columns: [
                { label: 'App version' },
                { label: 'Platform' },
                { label: 'Devices', number: true },
                { label: 'Share', number: true },
              ],
              rows: versions.map(({ appVersion, platform, devices: count }) => [
                appVersion ?? 'not reported',
                platform ?? 'not reported',
                counted(count),
                share(count),
              ]),
            })}
          </div>
          ${csvLink('versions', range.days)}
        </div>`,
    'Devices by the app version of their first report.',
  )
}

/** Trials, and how many of them became licenses. */
export function trialsPart({ figures, range }: Insights): Html {
  const { trials } = figures
  const started = total(trials, (row) => row.started)
  const converted = total(trials, (row) => row.converted)
  if (started + converted === 0) {
    return section(
      'Trials',
      empty(
        'No trials in these days',
        'An app starts a trial with the SDK, without a license. The product says how long it lasts.',
        html`<a href="/dashboard/products">View products</a>`,
      ),
    )
  }
  return section(
    'Trials',
    html`<div class="stack">
      <dl class="cards">
        ${card('Started', counted(started))} ${card('Became a license', counted(converted))}
      </dl>
      ${barPlot({
        label: 'Trials started per day, installs that activated a license in gray',
        by: 'day',
        bars: trials.map((row) => ({ at: row.day, parts: [row.started, row.converted] })),
        kinds: [
          { className: 'bar', name: 'started' },
          { className: 'bar-soft', name: 'became a license' },
        ],
      })}
      ${asTable(
        {
          caption: 'Trials by day',
          columns: [
            { label: 'Day' },
            { label: 'Started', number: true },
            { label: 'Became a license', number: true },
          ],
          rows: trials.map((row) => [utcDayOf(row.day), counted(row.started), counted(row.converted)]),
        },
        'trials',
        range.days,
      )}
    </div>`,
    'An install becomes a license when one is first activated on it, during its trial or after.',
  )
}
