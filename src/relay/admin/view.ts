import { type Content, documentOf, type Html, html } from '../../html.ts'
import type { SeatEnd } from '../entry.ts'
import type { BlockedDevice } from '../floor.ts'
import type { Relay, SeatHeld, Standing } from '../relay.ts'
import type { Recorded } from '../store/changes.ts'
import type { Session } from './sessions.ts'

/** What stands above a page once after something was done. */
export type Notice = { kind: 'done' | 'wrong'; text: string }

type Page = { title: string; session?: Session | undefined; notice?: Notice | undefined; content: Content }

function pageOf({ title, session, notice, content }: Page): string {
  return documentOf(html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <title>${title} · Relay</title>
      <link rel="icon" href="/admin/icon.svg" />
      <link rel="stylesheet" href="/admin/style.css" />
    </head>
    <body>
      <header class="top">
        <a class="brand" href="/admin">Relay</a>
        ${
          session &&
          html`<div class="actions">
            <a href="/admin/log">Log</a>
            ${button('/admin/sign-out', 'Sign out', session, {}, 'quiet')}
          </div>`
        }
      </header>
      <main class="page">
        ${notice && html`<p class=${`notice ${notice.kind}`} role=${notice.kind === 'wrong' ? 'alert' : 'status'}>${notice.text}</p>`}
        ${content}
      </main>
    </body>
  </html>`)
}

export const signInPage = (notice?: Notice): string =>
  pageOf({
    title: 'Sign in',
    notice,
    content: html`<section class="narrow">
      <h1>Sign in</h1>
      <form class="stack" method="post" action="/admin/sign-in">
        <div class="field">
          <label for="password">Password of this relay</label>
          <input id="password" name="password" type="password" autocomplete="current-password" required />
        </div>
        <div class="actions"><button>Sign in</button></div>
      </form>
    </section>`,
  })

/** @param standing of a relay that is enrolled */
export function overviewPage(relay: Relay, standing: Standing, session: Session, notice?: Notice): string {
  const { inUse, seats } = relay.use()
  const held = relay.seats()
  return pageOf({
    title: 'Seats',
    session,
    notice,
    content: [
      html`<section class="sheet">
        <div class="title">
          <h1>${inUse} of ${seats} seats in use</h1>
          ${badgeOf(standing)}
        </div>
        ${'certified' in standing && certificateFacts(standing)}
        ${clockWarning(relay)}
      </section>`,
      html`<section>
        <h2>Devices</h2>
        ${
          held.length === 0
            ? html`<p class="soft">No device has a seat.</p>`
            : html`<ul class="sheet">${held.map((each) => deviceRow(each, session))}</ul>`
        }
      </section>`,
      relay.blocked().length > 0 &&
        html`<section>
          <h2>Blocked devices</h2>
          <ul class="sheet">${relay.blocked().map((each) => blockedRow(each, session))}</ul>
        </section>`,
      renewalSection(session),
    ],
  })
}

function badgeOf({ kind }: Standing): Html {
  const [tone, text] = {
    serving: ['good', 'Serving'],
    over: ['bad', 'Certificate ended'],
    released: ['bad', 'Seats returned'],
    waiting: ['warn', 'Waiting for the first answer'],
  }[kind]
  return html`<span class=${`badge ${tone}`}>${text}</span>`
}

const certificateFacts = ({
  certified,
}: Extract<Standing, { certified: unknown }>): Html => html`<dl class="facts">
  <div><dt>Product</dt><dd>${certified.product.name}</dd></div>
  <div><dt>Certificate ends</dt><dd>${timeShown(Date.parse(certified.claims.exp) / 1000)}</dd></div>
  <div><dt>Relay</dt><dd><code>${certified.claims.relay_id}</code></dd></div>
</dl>`

/** A difference below this is no reason to look at the clock. */
const clocksDifferMs = 60_000

const clockWarning = ({ clock }: Relay): Content =>
  Math.abs(clock.aheadMs()) > clocksDifferMs &&
  html`<p class="notice wrong" role="alert">
    The clock of this machine was set while the relay ran: it shows ${timeShown(Math.floor((clock.now() + clock.aheadMs()) / 1000))}, and the
    relay goes by ${timeShown(Math.floor(clock.now() / 1000))}. Once the clock is right, restart the relay.
  </p>`

const deviceRow = ({ seat, endsAt }: SeatHeld, session: Session): Html => html`<li class="device">
  <div>
    <p class="name">${seat.name}</p>
    <p class="soft">
      ${seat.platform !== null && `${seat.platform} · `}since ${timeShown(seat.since)} · until ${timeShown(endsAt)} unless it calls
    </p>
  </div>
  <div class="actions">
    ${button('/admin/free', 'Free', session, { instance: seat.instanceId }, 'second')}
    ${button('/admin/block', 'Block', session, { instance: seat.instanceId }, 'danger')}
  </div>
</li>`

const blockedRow = (seat: BlockedDevice, session: Session): Html => html`<li class="device">
  <div><p class="name">${seat.name}</p></div>
  <div class="actions">
    ${button('/admin/unblock', 'Unblock', session, { blocked: String(seat.blockedId) }, 'second')}
  </div>
</li>`

const renewalSection = (session: Session): Html => html`<section class="sheet">
  <h2>Renewal</h2>
  <p>Send a request to the vendor, and upload the answer here. Devices keep their seats meanwhile.</p>
  <div class="actions">${button('/admin/request', 'Download request', session, {}, 'second')}</div>
  <form class="stack" method="post" action="/admin/answer" enctype="multipart/form-data">
    ${csrfField(session)}
    <div class="field">
      <label for="answer">Answer of the vendor</label>
      <input id="answer" name="answer" type="file" accept=".json,application/json" required />
    </div>
    <div class="actions"><button>Upload answer</button></div>
  </form>
</section>`

const endings: Record<SeatEnd, string> = {
  given_back: 'gave its seat back',
  ran_out: 'lost its seat: it did not call in time',
  freed: 'lost its seat: freed by the administrator',
  blocked: 'lost its seat: blocked by the administrator',
  replaced: 'gave a second seat back',
}

export const logPage = (entries: readonly Recorded[], session: Session): string =>
  pageOf({
    title: 'Log',
    session,
    content: html`<section>
      <h1>Log</h1>
      ${
        entries.length === 0
          ? html`<p class="soft">No seat has been taken yet.</p>`
          : html`<ul class="sheet">
              ${entries.map(
                ({ length, entry }) => html`<li class="device" key=${length}>
                <div>
                  <p class="name">${entry.name}</p>
                  <p class="soft">
                    ${timeShown(entry.at)} · ${entry.type === 'taken' ? 'took a seat' : endings[entry.how]} · no. ${entry.fence}
                  </p>
                </div>
              </li>`,
              )}
            </ul>`
      }
    </section>`,
  })

const csrfField = ({ csrf }: Session): Html => html`<input type="hidden" name="_csrf" value=${csrf} />`

/** A form of one button. */
const button = (
  action: string,
  text: string,
  session: Session,
  values: Readonly<Record<string, string>>,
  kind: 'second' | 'danger' | 'quiet',
): Html => html`<form method="post" action=${action}>
  ${csrfField(session)}
  ${Object.entries(values).map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
  <button class=${kind}>${text}</button>
</form>`

const timeShown = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`
