import { Command, Option } from 'commander'
import {
  type ControlFlags,
  caOption,
  clientOf,
  controlTokenOption,
  namespaceOption,
  print,
  urlOption,
} from './control-options.ts'

const tenantOption = () => new Option('--tenant <slug>', 'whose token (default: the first tenant)')

interface Flags extends ControlFlags {
  tenant?: string
}

/** `token`: an identity-provider token. */
export function tokenCommand(): Command {
  return new Command('token')
    .description('Print an identity-provider token of a running sandbox.')
    .addOption(urlOption())
    .addOption(caOption())
    .addOption(tenantOption())
    .addOption(controlTokenOption())
    .addOption(namespaceOption())
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  TOKEN=$(yield-sandbox token)\n  yield-sandbox token --tenant acme --json')
    .action(async (flags: Flags) => {
      const token = await clientOf(flags).idpToken({ tenant: flags.tenant })
      print(flags, { token }, [[token]])
    })
}

/** `user-token <external_id>`: a user token as the partner would mint it. */
export function userTokenCommand(): Command {
  return new Command('user-token')
    .description('Print a user token minted with the key of a tenant of a running sandbox.')
    .argument('<external_id>', 'the end user')
    .addOption(urlOption())
    .addOption(caOption())
    .addOption(tenantOption())
    .addOption(controlTokenOption())
    .addOption(namespaceOption())
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  USER_TOKEN=$(yield-sandbox user-token alice)')
    .action(async (externalId: string, flags: Flags) => {
      const token = await clientOf(flags).userToken(externalId, { tenant: flags.tenant })
      print(flags, { token }, [[token]])
    })
}
