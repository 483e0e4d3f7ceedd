import { Type } from '@sinclair/typebox'
import { parseDuration } from './support/quantities.ts'

/** Options of a process that shares its database with others. */
export interface FleetOptions {
  /**
   * Port at which the other processes on the same database reach this one; 0 picks a free one. With it, several processes serve as one:
   * each has some of the namespaces and passes on what is for the others, which take over what it had when it ends. Needs `database` and
   * `publicUrl`, the same for all. Leave it out for one process.
   * @defaultValue none: a second process on the same database is refused
   */
  fleetPort?: number
  /**
   * Address that this port is opened at. `0.0.0.0` where the others are on other machines or in other containers.
   * @defaultValue loopback, 127.0.0.1
   */
  fleetHost?: string
  /**
   * Host under which the others reach it, without the port. Set it where they cannot look up this machine's name, as in Kubernetes.
   * @defaultValue the fleet host; the machine's name, if that is every address
   */
  fleetAdvertise?: string
  /**
   * How long this process goes on with requests that are held, as by a fault, when it is told to stop: `25s`, or milliseconds. Namespaces
   * without open requests go to the other processes at once. 0 for not at all.
   * @defaultValue `25s`
   */
  drain?: string | number
}

const host = Type.String({ title: 'a host name or address', pattern: '^[^\\s/]{1,255}$', examples: ['127.0.0.1'] })

/** The options of {@link FleetOptions}. */
export const FLEET_OPTIONS = {
  fleetPort: {
    schema: Type.Integer({ minimum: 0, maximum: 65_535 }),
    flag: '--fleet-port <n>',
    otherwise: 'none: a second process on the same database is refused',
    description:
      'port for the other processes on the same database: each serves some namespaces, and passes on the rest',
  },
  fleetHost: {
    schema: host,
    flag: '--fleet-host <address>',
    otherwise: 'loopback, 127.0.0.1',
    description: 'address to open that port at',
  },
  fleetAdvertise: {
    schema: host,
    flag: '--fleet-advertise <host>',
    otherwise: "the fleet host; the machine's name, if that is every address",
    description: 'host under which the other processes reach it',
  },
  drain: {
    schema: Type.Union([Type.String(), Type.Integer({ minimum: 0 })], {
      title: 'a duration such as 25s, or milliseconds',
    }),
    parse: parseDuration,
    flag: '--drain <d>',
    default: '25s',
    description: 'how long a process of several goes on with held requests when it is told to stop',
  },
}
