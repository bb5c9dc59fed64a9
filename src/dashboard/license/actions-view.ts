import { type Html, html } from '../../html.ts'
import { field, heading, notice, tokenField } from '../frame/parts.ts'

type RequestedAction = {
  token: string
  license: { licenseId: string; displayKey: string }
  action: { name: string; label: string; operation: { title: string }; ofDevice: boolean }
  /** The device of the action; empty for the whole license. */
  deviceId: string
  problem: string | undefined
}

/** The form before an action is requested, for which a member then has to approve. */
export function actionView({ token, license, action, deviceId, problem }: RequestedAction): Html {
  const { licenseId, displayKey } = license
  const path = `/dashboard/licenses/${licenseId}`
  return html`<div class="narrow">
    ${heading(action.operation.title, html`<span class="mono">${displayKey}</span>`)}
    ${problem !== undefined && notice('wrong', problem)}
    <form class="sheet stack" method="post" action=${`${path}/do/${action.name}`}>
      ${tokenField(token)}
      ${
        action.ofDevice
          ? field({ name: 'device', label: 'Device ID', value: deviceId, maxlength: 256 })
          : field({
              name: 'reason',
              label: 'Reason',
              required: false,
              maxlength: 500,
              hint: 'Shown in the license history and in the request.',
            })
      }
      <p class="hint">This only creates a request. The next page shows what the request would do; an owner or an approver decides.</p>
      <div class="decide">
        <button>Request approval</button>
        <a class="button second" href=${path}>Cancel</a>
      </div>
    </form>
  </div>`
}
