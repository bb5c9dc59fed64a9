import type { Command } from 'commander'
import { licenseOfTestPurchase, startTestPurchase } from '../../commands/test-purchases.ts'
import { parseConfig } from '../../config.ts'
import { Provider } from '../../domain/integration/provider.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Stage } from '../../domain/testpurchase/events.ts'
import type { KnownTestPurchase } from '../../domain/testpurchase/test-purchase.ts'
import { testPurchaseView } from '../../http/management/test-purchases.ts'
import { ProviderUnavailable } from '../../payments/trouble.ts'
import { createTestPurchaseDriver } from '../../reactions/test-purchase-driver.ts'
import { createTestPurchaseRunner, type TestPurchaseDriver } from '../../reactions/test-purchases.ts'
import { parsed } from '../arguments.ts'
import { CommandRefused, CommandUnavailable } from '../exit.ts'
import { fields, type OutputOptions, print, tell } from '../output.ts'
import { baseUrlOf, sendTo } from '../own-address.ts'
import { withStores } from '../with-stores.ts'

type Options = OutputOptions & { tenant: string; keyType?: string; provider?: string }

/** `keyledger test-purchase`: plays a sale through against the running server. */
export function testPurchaseCommand(program: Command): void {
  program
    .command('test-purchase <productId>')
    .description('Play a purchase through against the running server, telling its stages as they happen')
    .requiredOption('--tenant <id>')
    .option('--key-type <id>', "what is bought; the product's first when absent")
    .option('--provider <name>', 'the first connected one that sells the product when absent')
    .option('--json', 'print the purchase as `GET /v1/test-purchase/{id}` shows it')
    .action((productId: string, options: Options) =>
      withStores(async ({ services }, origin) => {
        const provider =
          options.provider === undefined ? undefined : parsed(Provider, options.provider, '--provider')
        const product = await services.findProduct(options.tenant, productId)
        if (!product) throw new Refusal('product_not_found')
        const asked = { keyTypeId: options.keyType, provider }
        const { testPurchaseId } = await startTestPurchase(services, product, asked, origin)
        const driver = createTestPurchaseDriver(services, sendTo(baseUrlOf(parseConfig(process.env))))
        let passing = false
        const telling = told(driver, () => {
          passing = true
        })
        const ended = await createTestPurchaseRunner(services, telling)(testPurchaseId, origin)
        if (!ended) throw new Refusal('test_purchase_not_found')
        const view = testPurchaseView(ended, await licenseOfTestPurchase(services, ended))
        print(options, view, () => fields(view))
        if (view.status !== 'failed') return
        if (passing) throw new CommandUnavailable('The purchase could not be played through. Try again.')
        throw new CommandRefused('The purchase could not be played through.')
      }),
    )
}

/**
 * Says on stderr what each stage has come to, while the next one runs.
 * @param onPassing told of a stage that may go well another time
 */
function told(driver: TestPurchaseDriver, onPassing: () => void): TestPurchaseDriver {
  const telling = (stage: Stage) => async (purchase: KnownTestPurchase) => {
    const ended = await driver[stage](purchase).catch((error: unknown) => {
      if (error instanceof ProviderUnavailable) onPassing()
      throw error
    })
    if (ended.passing) onPassing()
    tell(`${stage}: ${ended.outcome}, ${ended.detail}`)
    return ended
  }
  return {
    checkout: telling('checkout'),
    webhook: telling('webhook'),
    license_minted: telling('license_minted'),
  }
}
