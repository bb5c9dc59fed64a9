import { dayIn, momentIn } from '../../domain/portal/languages.ts'
import { type EntitlementValues, valueNamed } from '../../domain/products/entitlement-values.ts'
import { type Content, type Html, html } from '../../html.ts'
import { formOf } from '../form.ts'
import { amountIn, maskedAddress, maskedOrder } from '../page.ts'
import type { Visit } from '../visit.ts'
import { metersPart } from './meters-view.ts'
import { personSeatsPart } from './person-seats-view.ts'
import { relaysPart } from './relays-view.ts'
import type { LicenseDetails, ShownDevice } from './shown.ts'
import { facts, seatsOf, statusBadge, validityOf } from './view.ts'

/** The page of one license. */
export function licenseView(visit: Visit, details: LicenseDetails): Html {
  const { say, language, home } = visit
  const { license, order } = details
  return html`<section>
    <p><a href=${home}>${say('back')}</a></p>
    <div class="title">
      <h1>${license.productName}</h1>
      ${statusBadge(visit, license)}
    </div>
    <div class="sheet">
      ${facts([
        [say('endLabel'), validityOf(visit, license)],
        license.updatesUntil !== null && [
          say('updatesLabel'),
          say('updatesUntil', { date: dayIn(language, license.updatesUntil) }),
        ],
        [say('planLabel'), license.planName],
        license.quantity > 1 && [say('quantityLabel'), license.quantity],
        [say('keyLabel'), html`<code>${license.displayKey}</code>`],
        [say(license.isNamed ? 'personSeatsTitle' : 'devicesLabel'), seatsOf(visit, license)],
        license.entitlements.length > 0 && [
          say('includesLabel'),
          html`<ul class="chips">
            ${license.entitlements.map((name) => html`<li>${withValue(name, license.entitlementValues)}</li>`)}
          </ul>`,
        ],
        [say('boughtLabel'), dayIn(language, license.createdAt)],
      ])}
    </div>
    ${metersPart(visit, details)} ${personSeatsPart(visit, details)} ${devices(visit, details)} ${keyActions(visit, details)} ${fileAction(visit, details)}
    ${relaysPart(visit, details)}
    ${
      order &&
      html`<h2>${say('ordersTitle')}</h2>
        <div class="sheet">
          ${facts([
            [say('orderLabel'), maskedOrder(order.saleId)],
            [say('orderDateLabel'), dayIn(language, order.soldAt)],
            [say('orderAmountLabel'), amountIn(language, order.amount, order.currency)],
          ])}
          ${order.test && html`<p class="soft">${say('orderTest')}</p>`}
        </div>`
    }
  </section>`
}

function devices(visit: Visit, { license, mayChange, devices: seated, frees }: LicenseDetails): Content {
  const { say, home, language } = visit
  const path = `${home}/licenses/${license.licenseId}/devices`
  return html`<h2>${say(license.isFloating ? 'seatsTitle' : 'devicesTitle')}</h2>
    <div class="sheet">
      ${
        seated.length === 0
          ? html`<p>${say('noDevices')}</p>`
          : html`<ul>
              ${seated.map(
                (device) => html`<li class="device">
                  <div>
                    <p class="name">${device.name}</p>
                    <p class="soft">${timesOf(visit, device)}</p>
                    ${device.endsAt !== null && html`<p class="soft">${say('seatUntil', { moment: momentIn(language, device.endsAt) })}</p>`}
                    ${device.heldUntil !== null && html`<p class="soft">${say('seatHeld', { date: dayIn(language, device.heldUntil) })}</p>`}
                    ${
                      device.reportedName !== device.name &&
                      html`<p class="soft">${say('deviceNameApp', { name: device.reportedName })}</p>`
                    }
                  </div>
                  ${
                    (mayChange || device.isOwn) &&
                    html`<div class="actions">
                      <a class="button second" href=${`${path}/${device.instanceId}/name`} aria-label=${`${say('renameDevice')}: ${device.name}`}>${say('renameDevice')}</a>
                      ${
                        frees.left > 0 &&
                        device.heldUntil === null &&
                        html`<a class="button danger" href=${`${path}/${device.instanceId}/free`} aria-label=${`${say('freeDevice')}: ${device.name}`}>${say('freeDevice')}</a>`
                      }
                    </div>`
                  }
                </li>`,
              )}
            </ul>`
      }
      ${(mayChange || seated.some(({ isOwn }) => isOwn)) && seated.length > 0 && html`<p class="soft">${freesWords(visit, frees)}</p>`}
    </div>`

  function timesOf({ say: words }: Visit, { since, seenAt }: ShownDevice): string {
    const from = words('deviceSince', { date: dayIn(language, since) })
    return seenAt === null ? from : `${from} · ${words('deviceSeen', { date: dayIn(language, seenAt) })}`
  }
}

/** How many devices may still be removed, in a sentence. */
export function freesWords(
  { say, language }: Visit,
  { most, left, nextAt }: LicenseDetails['frees'],
): string {
  if (most === 0) return say('freeOff')
  if (left > 0) return left === 1 ? say('freeLeftOne') : say('freeLeft', { left })
  return say('freeNone', { date: nextAt === null ? '' : dayIn(language, nextAt) })
}

function fileAction(visit: Visit, { license, mayGetFiles }: LicenseDetails): Content {
  const { say, home } = visit
  if (!mayGetFiles) return null
  return html`<h2>${say('filesTitle')}</h2>
    <div class="sheet stack">
      <p>${say('filesLead')}</p>
      <div class="actions"><a class="button second" href=${`${home}/licenses/${license.licenseId}/file`}>${say('filesLink')}</a></div>
    </div>`
}

function keyActions(visit: Visit, { license, maySendKey, mayReplaceKey }: LicenseDetails): Content {
  const { say, home, customer } = visit
  if (!maySendKey && !mayReplaceKey) return null
  const path = `${home}/licenses/${license.licenseId}`
  const email = maskedAddress(customer?.email ?? '')
  return html`<h2>${say('keyTitle')}</h2>
    <div class="sheet">
      ${
        maySendKey &&
        formOf(
          visit,
          { action: `${path}/send-key`, button: say('sendKey'), buttonLook: 'second' },
          html`<p>${say('sendKeyLead', { email })}</p>`,
        )
      }
      ${
        mayReplaceKey &&
        html`<div class="stack">
          <p>${say('replaceKeyLead')}</p>
          <div class="actions"><a class="button second" href=${`${path}/replace-key`}>${say('replaceKey')}</a></div>
        </div>`
      }
    </div>`
}

/** `projects: 25`; the name alone without a value, and where the value is only true. */
function withValue(name: string, values: EntitlementValues): string {
  const value = valueNamed(name, values) ?? true
  return value === true ? name : `${name}: ${value}`
}
