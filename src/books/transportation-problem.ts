/** A source, a target, or one of the two ends at which all of them hang. */
export interface TransportStop {
  roads: TransportRoad[]
  /** Cost of the cheapest way from where it was measured; infinite if there is none. */
  distance: number
  /** Number of roads on the way; of equally cheap ways the one with the fewest counts. */
  roadsTo: number
  /** Index of the first road that may still lead on. */
  next: number
}

/** One direction of a road; what is shipped one way may be taken back the other way, and is then refunded. */
export interface TransportRoad {
  to: TransportStop
  /** Number of further units that it takes. */
  room: number
  /** Of each unit. */
  cost: number
  back: TransportRoad
}

/**
 * The transportation problem: sources with supplies, targets with demands, and lanes between them on which each unit has a cost. `solve`
 * ships what makes the sum of all costs least; nothing has to be shipped, so that only lanes with a cost below 0 are of use. Costs are
 * integers. Successive shortest paths, of which all of one length are filled at once.
 */
export class TransportationProblem {
  readonly #stops: TransportStop[] = []
  readonly #origin = this.#stop()
  readonly #end = this.#stop()

  source(supply: number): TransportStop {
    const stop = this.#stop()
    connect(this.#origin, stop, supply, 0)
    return stop
  }

  target(demand: number): TransportStop {
    const stop = this.#stop()
    connect(stop, this.#end, demand, 0)
    return stop
  }

  lane(source: TransportStop, target: TransportStop, cost: number): TransportRoad {
    return connect(source, target, Number.POSITIVE_INFINITY, cost)
  }

  /** Called once, when all lanes are there. Returns the number of rounds: one for each length of a path. */
  solve(): number {
    let rounds = 0
    for (; ; rounds++) {
      this.#measure(this.#origin, (road) => road, 1)
      if (this.#end.distance >= 0) break
      this.#fill()
    }
    // From now on ways are measured around: any number of units may be shipped.
    const ring = connect(this.#origin, this.#end, Number.POSITIVE_INFINITY, 0)
    ring.back.room = Number.POSITIVE_INFINITY
    return rounds
  }

  /**
   * Returns the lanes on which a source ships something in any of the solutions, for which costs below half a `grain` do not count. `rest` is
   * true if one of them leaves something of its supply. Needs `solve` first.
   */
  everUsed(source: TransportStop, grain: number): { lanes: TransportRoad[]; rest: boolean } {
    this.#measure(source, ({ back }) => back, grain)
    const lanes = source.roads.filter(({ to, cost }) => Math.round(cost / grain) + to.distance === 0)
    return { lanes: lanes.filter(({ to }) => to !== this.#origin), rest: this.#origin.distance === 0 }
  }

  #stop(): TransportStop {
    const stop: TransportStop = { roads: [], distance: 0, roadsTo: 0, next: 0 }
    this.#stops.push(stop)
    return stop
  }

  /** Measures by Bellman and Ford; `wayOf` gives the direction in which a road is gone. */
  #measure(from: TransportStop, wayOf: (road: TransportRoad) => TransportRoad, grain: number): void {
    for (const stop of this.#stops) stop.distance = Number.POSITIVE_INFINITY
    Object.assign(from, { distance: 0, roadsTo: 0 })
    const queue = new Set([from])
    for (const stop of queue) {
      queue.delete(stop)
      for (const road of stop.roads) {
        const { room, cost } = wayOf(road)
        const distance = stop.distance + Math.round(cost / grain)
        const ahead = distance - road.to.distance || stop.roadsTo + 1 - road.to.roadsTo
        if (room === 0 || ahead >= 0) continue
        Object.assign(road.to, { distance, roadsTo: stop.roadsTo + 1 })
        queue.add(road.to)
      }
    }
  }

  /** Ships along shortest paths with the fewest roads until each of them has a full one, by depth-first search as Dinic's. */
  #fill(): void {
    for (const stop of this.#stops) stop.next = 0
    const path: TransportRoad[] = []
    let at = this.#origin
    for (;;) {
      const road = at.roads[at.next]
      if (at === this.#end) {
        const amount = path.reduce((least, { room }) => Math.min(least, room), Number.POSITIVE_INFINITY)
        for (const gone of path.splice(0)) {
          gone.room -= amount
          gone.back.room += amount
        }
        at = this.#origin
      } else if (road === undefined) {
        const last = path.pop()
        if (!last) return
        at = last.back.to
        at.next += 1
      } else if (road.room > 0 && isNext(at, road)) {
        path.push(road)
        at = road.to
      } else {
        at.next += 1
      }
    }
  }
}

function isNext(at: TransportStop, { to, cost }: TransportRoad): boolean {
  return to.distance === at.distance + cost && to.roadsTo === at.roadsTo + 1
}

function connect(from: TransportStop, to: TransportStop, room: number, cost: number): TransportRoad {
  const road = { to, room, cost } as TransportRoad
  road.back = { to: from, room: 0, cost: -cost, back: road }
  from.roads.push(road)
  to.roads.push(road.back)
  return road
}

/** Number of units on a lane. */
export function shippedOn({ back }: TransportRoad): number {
  return back.room
}
