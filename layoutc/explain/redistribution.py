"""Which means a redistribution takes, at what cost, and why no other."""

from __future__ import annotations

from layoutc.plan.moves.by_rank import ByRank, GatherByShuffles
from layoutc.plan.moves.nodes import RenameRegisters, Shuffle, ThroughShared
from layoutc.plan.nodes import Target
from layoutc.plan.redistributions.redistribution import RedistributionPlan


def explain_redistribution(plan: RedistributionPlan, target: Target) -> dict[str, object]:
    """The object of one redistribution of ``explain --json``."""
    return {"name": plan.name, "kind": "redistribute", "arch": target.arch, "redistribute": [moved(plan)]}


def moved(plan: RedistributionPlan) -> dict[str, object]:
    """One entry of ``redistribute``: counts are of one conversion of the whole block, shuffles and selects a thread."""
    found: dict[str, object] = {
        "name": plan.name, "from": str(plan.exchange.source), "to": str(plan.exchange.destination), "via": "none",
        "rounds": 0, "selects": 0, "shared_bytes": 0, "write_wavefronts": 0, "read_wavefronts": 0,
        "ideal_wavefronts": 0, "barrier": "none"}
    words = max(plan.exchange.bytes // 4, 1)        # of an item
    match plan.move:
        case RenameRegisters(selects=selects):
            found |= {"via": "registers", "selects": selects * words}
        case Shuffle(rounds=rounds, selects=selects):
            found |= {"via": "shuffle", "rounds": len(rounds) * words, "selects": selects * words}
        case ThroughShared(buffer=buffer, barrier=barrier):
            found |= {
                "via": "shared", "rounds": buffer.read.shuffles // -(-plan.exchange.threads // 32),
                "shared_bytes": plan.function.shared_bytes,
                "write_wavefronts": buffer.write.wavefronts, "read_wavefronts": buffer.read.wavefronts,
                "ideal_wavefronts": min(buffer.write.ideal, buffer.read.ideal), "barrier": barrier}
        case GatherByShuffles(rounds=rounds):
            found |= {"via": "shuffle", "rounds": rounds * words, "selects": rounds * words}
        case ByRank(kind=kind, buffer=buffer, barrier=barrier):
            known = {"write_wavefronts": None, "read_wavefronts": buffer.read.wavefronts} if kind == "scatter" else {
                "write_wavefronts": buffer.write.wavefronts, "read_wavefronts": None}
            found |= {"via": "shared", "shared_bytes": plan.function.shared_bytes, **known,
                      "ideal_wavefronts": buffer.read.ideal, "barrier": barrier}
    rejected = [{"via": r.via, "why": r.why, "cost": r.cost} for r in plan.refusals]
    return {**found, "rejected": rejected}
