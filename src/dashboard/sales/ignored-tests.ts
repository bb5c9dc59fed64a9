import { providerNames } from '../../domain/integrations/provider.ts'
import { type Content, html } from '../../html.ts'
import { sentence } from '../../sentence.ts'
import { describeIgnoredTest, type listIgnoredTests } from '../../usage/ignored-tests.ts'
import { ago } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { section, table } from '../frame/parts.ts'

export type IgnoredTests = Awaited<ReturnType<typeof listIgnoredTests>>['items']

/** Test notifications that had no effect, with the reason; nothing when there are none. */
export function ignoredTestsPart(view: View, tests: IgnoredTests): Content {
  if (tests.length === 0) return null
  return section(
    'Ignored test notifications',
    html`<div class="sheeted">
      ${table({
        caption: 'Ignored test notifications',
        columns: [
          { label: 'Notification' },
          { label: 'Reason' },
          { label: 'Count', wide: true, number: true },
          { label: 'Received', wide: true },
        ],
        rows: tests.map((test): Content[] => [
          html`<span
            >${providerNames[test.provider]}, ${test.kind}<span class="sub"><code>${test.notificationId}</code></span></span
          >`,
          sentence(describeIgnoredTest(test)),
          String(test.times),
          ago(test.receivedAt, view.now),
        ]),
      })}
    </div>`,
    'Test notifications from the last 30 days that had no effect.',
  )
}
