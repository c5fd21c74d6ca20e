"""A profile of ONNX Runtime: what its events say about the nodes of a model.

An event is recorded when it ends, so the nodes of the body of a loop or branch come before the node that has the body. All of
them run on its thread.
"""
MOST_EVENTS = 1000000  # ONNX Runtime drops later ones
LIVE = ("Session", "Node")  # the categories of the events that are recorded while the model runs


def runs(events):
    """The events of whole runs of the model, in order. The run in which events began to be dropped is not among them."""
    return sorted((event for event in events if event["name"] == "model_run"), key=lambda event: event["ts"])


def room(events):
    """How many runs a profile has room for, from the events of a session with one run; 0: not even for that one."""
    live = [event for event in events if event.get("cat") in LIVE]
    whole = runs(live)
    if not whole:
        return 0
    before = sum(event["ts"] < whole[0]["ts"] for event in live)
    return (MOST_EVENTS - before) // (len(live) - before)


def nodes(events):
    """The executions of nodes in their order. Each gets self, the time in µs without the nodes of its body, and inside, the execution
    of the node whose body it is part of."""
    found, ended = [], {}  # by thread: the executions that are not known to be part of a body
    for event in events:
        if event.get("cat") != "Node" or not event["name"].endswith("_kernel_time"):
            continue
        before = ended.setdefault(event["tid"], [])
        event["self"] = event["dur"]
        while before and before[-1]["ts"] >= event["ts"]:
            inner = before.pop()
            inner["inside"] = event
            event["self"] -= inner["dur"]
        before.append(event)
        found.append(event)
    return found


def place(event):
    """What distinguishes a node from others, of which it may have executions: its name, its number and the nodes around it."""
    around = place(event["inside"]) if "inside" in event else ()
    return around + ((event["name"], event["args"].get("node_index"), event["args"]["provider"]),)


def operators(events, zero):
    """The nodes of all whole runs but the first, which is 5 to 10 times slower, added up by name and provider. Times are those of the nodes
    themselves, without the nodes of their bodies, in steps of 1 us. Counters are those of the last run. zero is the start of the
    profile in ns."""
    whole, ops = runs(events), {}
    first, last = whole[0]["ts"] + whole[0]["dur"], whole[-1]["ts"] + whole[-1]["dur"]
    for event in nodes(events):
        if not first <= event["ts"] <= last:
            continue
        name, args = event["name"][:-len("_kernel_time")], event["args"]
        op = ops.setdefault((name, args["provider"]), {
            "name": name, "type": args["op_name"], "device": args["provider"], "duration_ns": 0, "count": 0,
            "start_ns": max(0, zero + event["ts"] * 1000)})
        op["duration_ns"] += event["self"] * 1000
        op["count"] += 1
        op["counters"] = {key: float(args[key]) for key in (
            "activation_size", "parameter_size", "output_size") if key in args}
    return sorted(ops.values(), key=lambda op: op["start_ns"])
