import type { KnownTestPurchase } from '../../domain/test-purchases/test-purchase.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { View } from '../frame/page.ts'
import { badge, copyableBlock, heading, type Tone, tokenField } from '../frame/parts.ts'
import { shortNameForm } from '../settings/name-route.ts'
import type { StartFacts } from './facts.ts'

/** The page under Help, which shows the steps also after they are done. */
export const startView = (view: View, facts: StartFacts, operation: string): Html => html`<div>
  ${heading('Get started', 'From an empty workspace to the first license that your app validates.')}
  ${startSteps(view, facts, operation)}
  <p class="part"><a href="/docs">API reference</a></p>
</div>`

type Step = { title: string; done: boolean; text: Content }

/**
 * The steps in order, each ticked from what is there.
 * @param operation the id of the test purchase's form
 */
export function startSteps(view: View, facts: StartFacts, operation: string): Html {
  const { productId, connected, firstLicense, sdkKeyUsed, validated } = facts
  const steps: readonly Step[] = [
    { title: 'Name your workspace', done: facts.named, text: namePart(view, facts) },
    {
      title: 'Create a product with a key type',
      done: productId !== undefined,
      text: html`<p>
        A key type says how long a license lasts and how many devices it covers.${' '}
        ${link(view.may('manage_products'), '/dashboard/new-product', 'Create product')}
      </p>`,
    },
    {
      title: 'Connect a payment provider, or sell elsewhere',
      done: connected || facts.sellsElsewhere,
      text: sellingPart(view, facts),
    },
    {
      title: 'Make a test purchase, or issue a first license',
      done: firstLicense,
      text: testPurchasePart(view, facts, operation),
    },
    {
      title: 'Put the SDK key into your app',
      done: sdkKeyUsed,
      text: html`<p>
        The SDK key identifies your workspace in the calls of your app. This step is done after the first call.${' '}
        ${
          view.may('manage_connections')
            ? link(true, '/dashboard/settings/sdk-key', 'Show SDK key')
            : 'Ask a member who manages connections for it.'
        }
      </p>`,
    },
    {
      title: 'Validate a license',
      done: validated,
      text: html`<div class="stack-tight">
        <p>
          In your app, with the SDK key. The activation returns the instance ID. The package${' '}
          <code>@keyledger/client/verify</code> verifies the signed answer.
        </p>
        ${copyableBlock('snippet for the app', appSnippet(view, facts))}
        <p>On a server, with a token that has the scope <code>licenses:runtime</code>:</p>
        ${copyableBlock('snippet for a server', serverSnippet(view, facts))}
      </div>`,
    },
  ]
  const next = steps.findIndex(({ done }) => !done)
  return html`<ol class="steps">
    ${steps.map(
      ({ title, done, text }, index) => html`<li class=${done ? 'step done' : 'step'}>
        <details open=${index === next}>
          <summary>${title} ${done ? badge('good', 'done') : index === next && badge('warn', 'next')}</summary>
          <div class="step-text">${text}</div>
        </details>
      </li>`,
    )}
  </ol>`
}

/** The first step: the name that customers and members read. */
const namePart = (view: View, { name }: StartFacts): Html =>
  html`<div class="stack-tight">
    <p>The emails to your customers, the portal and these pages show the name.</p>
    ${
      view.may('manage_settings')
        ? shortNameForm(view.token, name, '/dashboard/start')
        : html`<p>Ask a member who manages the settings.</p>`
    }
  </div>`

const link = (shown: boolean, href: string, label: string): Content =>
  shown && html`<a href=${href}>${label}</a>`

function testPurchasePart(
  view: View,
  { productId, testPurchase, connected }: StartFacts,
  operation: string,
): Html {
  const running = testPurchase?.status === 'running'
  return html`<div class="stack-tight">
    <p>
      No payment is made. keyledger sends itself a signed notification and handles it like a real sale. The license is marked as a test.
    </p>
    ${testPurchase && stagesView(testPurchase)}
    ${
      productId !== undefined &&
      connected &&
      !running &&
      view.may('change_licenses') &&
      html`<form method="post" action="/dashboard/start/test-purchase">
        ${tokenField(view.token)}<input type="hidden" name="product" value=${productId} />
        <input type="hidden" name="operation" value=${operation} />
        <button class="second">Run test purchase</button>
      </form>`
    }
    ${!connected && html`<p class="hint">It needs a connected payment provider.</p>`}
    ${
      productId !== undefined &&
      view.may('change_licenses') &&
      html`<p>Or issue a license by hand. ${link(true, '/dashboard/new-license', 'New license')}</p>`
    }
  </div>`
}

const tones: Record<KnownTestPurchase['stages'][number]['status'], Tone> = {
  pending: 'plain',
  running: 'warn',
  done: 'good',
  failed: 'bad',
}

function sellingPart(view: View, { connected, sellsElsewhere }: StartFacts): Html {
  return html`<div class="stack-tight">
    <p>
      Sales of a connected provider become licenses. ${link(true, '/dashboard/integrations', 'View integrations')}
    </p>
    <p>
      If you sell elsewhere, your own server issues the licenses with an API token.${' '}
      ${link(view.may('manage_tokens'), '/dashboard/tokens/new', 'Create token')}
    </p>
    ${
      !connected &&
      !sellsElsewhere &&
      view.may('manage_connections') &&
      html`<form method="post" action="/dashboard/start/sell-elsewhere">
        ${tokenField(view.token)}<button class="second">I sell elsewhere</button>
      </form>`
    }
  </div>`
}

/** Takes the steps off the home page of every member. */
export const dismissForm = (view: View): Content =>
  view.may('manage_settings') &&
  html`<form class="dismiss" method="post" action="/dashboard/start/dismiss">
    ${tokenField(view.token)}<button class="second">Hide setup checklist</button>
  </form>`

/** The stages of a test purchase. While it runs, htmx loads them again every second. */
export function stagesView({ status, stages, productId }: KnownTestPurchase): Html {
  const running = status === 'running'
  return html`<div
    id="test-purchase"
    role="status"
    hx-get=${running ? '/dashboard/start/test-purchase' : undefined}
    hx-trigger=${running ? 'every 1s' : undefined}
    hx-swap=${running ? 'outerHTML' : undefined}
  >
    <p>Test purchase of <code>${productId}</code>: ${status}</p>
    <ol>
      ${stages.map(
        ({ name, status: of, detail }) =>
          html`<li>${name.replaceAll('_', ' ')} ${badge(tones[of], of)}${detail && html`<span class="sub">${detail}</span>`}</li>`,
      )}
    </ol>
  </div>`
}

const appSnippet = ({ baseUrl }: View, { tenantId, productId }: StartFacts): string => {
  const call = (operation: string, body: string) =>
    `curl ${baseUrl}/${tenantId}/${productId ?? 'PRODUCT'}/${operation} \\
  -H 'X-Service-SDK-Key: SDK_KEY' -H 'Content-Type: application/json' \\
  -d '${body}'`
  return `${call('activate', '{"license_key":"LICENSE_KEY","instance_name":"Laptop"}')}
${call('validate', '{"license_key":"LICENSE_KEY","instance_id":"INSTANCE_ID"}')}`
}

const serverSnippet = ({ baseUrl }: View, { productId }: StartFacts): string => {
  const call = (operation: string, more: string) =>
    `curl ${baseUrl}/v1/licenses/${operation} \\
  -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' \\
  -d '{"product_id":"${productId ?? 'PRODUCT'}","license_key":"LICENSE_KEY","device_id":"laptop"${more}}'`
  return `${call('activate', ',"name":"Laptop"')}
${call('validate', '')}`
}
