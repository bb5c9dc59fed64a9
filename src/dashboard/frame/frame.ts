import type { Freshness } from '../../../projections/runner/freshness.ts'
import { may, roleName } from '../../domain/members/roles.ts'
import { type Content, type Html, html } from '../../html.ts'
import { assets } from '../assets.ts'
import type { Principal } from '../session/principal.ts'
import type { FlashMessage } from '../session/session.ts'
import { findBox } from './find.ts'
import { freshnessLine } from './freshness.ts'
import { type Crumb, type NavItem, navigationFor } from './navigation.ts'
import { notice as noticeBox } from './parts.ts'

export type Frame = {
  title: string
  nav: NavItem | undefined
  /** The pages above this one, the first one first. */
  trail: readonly Crumb[]
  notice: FlashMessage | undefined
  principal: Principal | undefined
  /** Whether mails are kept in the mailbox instead of being sent. */
  hasMailbox: boolean
  freshness: Freshness | undefined
  /** The number of pending approvals; undefined for members who may not approve. */
  waiting: number | undefined
  token: string
}

/** No history in the browser's storage, no generated styles or code, no requests to other origins. */
const htmxConfig = JSON.stringify({
  includeIndicatorStyles: false,
  allowEval: false,
  allowScriptTags: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  refreshOnHistoryMiss: true,
})

/** A whole page. Without a signed-in member it is only the centered content. */
export function frame(parts: Frame, content: Html): Html {
  const { title, nav, trail, notice, principal, hasMailbox, freshness, waiting, token } = parts
  const shown = notice && noticeBox(notice.kind, notice.text)
  const main = html`<main id="content" tabindex="-1">${shown}${content}${freshness && freshnessLine(freshness)}</main>`
  return html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <meta name="htmx-config" content=${htmxConfig} />
      <title>${title} · keyledger</title>
      <link rel="icon" href=${assets.icon} type="image/svg+xml" />
      <link rel="stylesheet" href=${assets.style} />
      <script src=${assets.htmx} defer></script>
      <script src=${assets.passkeys} defer></script>
      <script src=${assets.script} defer></script>
    </head>
    <body class=${principal ? 'app' : 'alone'}>
      <a class="skip" href="#content">Skip to content</a>
      ${
        principal
          ? html`${sidebar({ principal, hasMailbox, nav, waiting, token })}
              <div class="top">${breadcrumbs(trail, title)} ${may(principal.role, 'licenses:read') && findBox(token)}</div>`
          : brand('header')
      }
      ${main}
    </body>
  </html>`
}

function brand(element: 'header' | 'a'): Html {
  const mark = html`<svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
    <rect x="3" y="3" width="18" height="18" rx="4" class="mark-paper" />
    <path d="M8 7v10M8 12.5l6.5-5.5M10.6 10.6 15 17" class="mark-ink" />
  </svg>`
  return element === 'a'
    ? html`<a class="brand" href="/dashboard">${mark}<span>keyledger</span></a>`
    : html`<header>
        <p class="brand">${mark}<span>keyledger</span></p>
      </header>`
}

/** The way back to the list. A page of the navigation itself has none. */
const breadcrumbs = (trail: readonly Crumb[], title: string): Content =>
  trail.length > 0 &&
  html`<nav class="crumbs" aria-label="Breadcrumbs">
    <ol>
      ${trail.map(({ label, href }) => html`<li><a href=${href}>${label}</a></li>`)}
      <li aria-current="page">${title}</li>
    </ol>
  </nav>`

/** Updated by the script, with JavaScript. */
const waitingBadge = (waiting: number): Html =>
  html`<span class="waiting" data-waiting="/dashboard/approvals/waiting" role="status">
    <span class="count">${waiting === 0 ? '' : waiting}</span><span class="unseen"> pending</span>
  </span>`

/** The same number on a phone, where the navigation is collapsed. */
const menuBadge = (waiting: number): Html =>
  html`<span class="waiting"><span class="count">${waiting === 0 ? '' : waiting}</span><span class="unseen"> pending</span></span>`

type Sidebar = Pick<Frame, 'hasMailbox' | 'nav' | 'waiting' | 'token'> & { principal: Principal }

/** On a phone the navigation follows a `details` element, whose state shows or hides it without JavaScript. */
function sidebar({ principal, hasMailbox, nav, waiting, token }: Sidebar): Html {
  return html`<header class="side"><div class="side-in">
    ${brand('a')}
    <p class="workspace" title=${principal.tenantId}>
      ${principal.tenantName}${principal.tenantStatus === 'suspended' && html`<span class="badge warn">suspended</span>`}
    </p>
    <details class="menu">
      <summary>Menu${waiting !== undefined && menuBadge(waiting)}</summary>
    </details>
    <div class="side-menu">
      <nav aria-label="Main">
        ${navigationFor(principal.role, hasMailbox).map(
          ({ title, entries }) => html`<div class="nav-group">
            ${title && html`<p class="nav-title" id=${`nav-${title.replace(' ', '-')}`}>${title}</p>`}
            <ul aria-labelledby=${title && `nav-${title.replace(' ', '-')}`}>
              ${entries.map(
                ({ item, label, href }) => html`<li>
                  <a href=${href} aria-current=${item === nav ? 'page' : undefined}>
                    ${label}${item === 'approvals' && waiting !== undefined && waitingBadge(waiting)}
                  </a>
                </li>`,
              )}
            </ul>
          </div>`,
        )}
      </nav>
    </div>
    <div class="me">
      <a href="/dashboard/account" aria-current=${nav === 'account' ? 'page' : undefined}>
        <span class="me-name">${principal.email ?? principal.memberId}</span>
        <span class="me-role">${roleName(principal.role)}</span>
      </a>
      <form method="post" action="/dashboard/sign-out">
        <input type="hidden" name="_csrf" value=${token} />
        <button class="quiet">Sign out</button>
      </form>
    </div>
  </div></header>`
}
