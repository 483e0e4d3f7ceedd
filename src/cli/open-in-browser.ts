import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** The program that opens an address, and its first arguments. */
interface Opener {
  file: string
  args: string[]
}

/**
 * The platform's opener; undefined where there is no display to open anything on. BROWSER, where it is set, names another program, as for
 * most programs of Unix; `true` there stands for none.
 */
export function openerOf(platform: string, env: NodeJS.ProcessEnv): Opener | undefined {
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY } = env
  if (BROWSER) return /^(true|none)$/.test(BROWSER) ? undefined : { file: BROWSER, args: [] }
  if (platform === 'darwin') return { file: 'open', args: [] }
  if (platform === 'win32') return { file: 'rundll32', args: ['url.dll,FileProtocolHandler'] }
  return DISPLAY || WAYLAND_DISPLAY ? { file: 'xdg-open', args: [] } : undefined
}

/** Opens an address in the browser. Resolves to false if that cannot be done: then a person has to. */
export async function openInBrowser(address: string, platform: string = process.platform): Promise<boolean> {
  const opener = openerOf(platform, process.env)
  if (!opener) return false
  const child = spawn(opener.file, [...opener.args, address], { stdio: 'ignore', detached: true })
  try {
    await once(child, 'spawn')
  } catch {
    return false // there is no such program
  }
  child.unref()
  return true
}
