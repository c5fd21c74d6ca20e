"""The options of a session of ONNX Runtime that a sweep sets, by ONNX Runtime's own names.

The key session has them, and an axis may have the name of one. What was set is read back from the session.
"""
import os

LEVELS = {"disable_all": "ORT_DISABLE_ALL", "basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED",
          "layout": "ORT_ENABLE_LAYOUT", "all": "ORT_ENABLE_ALL"}
MODES = {"sequential": "ORT_SEQUENTIAL", "parallel": "ORT_PARALLEL"}
SWITCHES = {"true": True, "false": False}


class Options:
    """The requested options of a session."""

    def __init__(self, request, ort):
        self.request = request
        self.words = {
            "graph_optimization_level": {word: getattr(ort.GraphOptimizationLevel, name, None) for word, name in LEVELS.items()},
            "execution_mode": {word: getattr(ort.ExecutionMode, name) for word, name in MODES.items()},
        }
        for name in "enable_cpu_mem_arena enable_mem_pattern enable_mem_reuse use_deterministic_compute".split():
            self.words[name] = SWITCHES
        asked = request.settings.get("session") or {}
        self.plain = dict(asked.get("options") or {})
        for name in [*self.words, "inter_op_num_threads", "optimized_model_filepath"]:
            if name not in self.plain and "param." + name in request.config:
                self.plain[name] = request.axis("param." + name)
        self.entries, self.sizes = asked.get("config_entries") or {}, asked.get("free_dimension_overrides") or {}
        self.libraries = asked.get("custom_ops_library") or []

    def set(self, options, threads):
        """Sets them. Nodes that may run at the same time have as many threads as one of them, unless their number is set."""
        for name, text in self.plain.items():
            setattr(options, name, self.value(name, text))
        if self.plain.get("execution_mode") == "parallel" and "inter_op_num_threads" not in self.plain:
            options.inter_op_num_threads = threads
        for name, size in self.sizes.items():
            options.add_free_dimension_override_by_name(name, int(size))
        for name, text in self.entries.items():
            options.add_session_config_entry(name, text)
        for path in self.libraries:
            try:
                options.register_custom_ops_library(os.path.abspath(path))
            except Exception as error:
                raise self.request.failure("session.custom_ops_library %s: %s" % (path, str(error).split(" : ")[-1].strip()))

    def value(self, name, text):
        """The value of an option for ONNX Runtime."""
        if name in self.words:
            value = self.words[name].get(text)
            if value is None:
                raise self.request.not_applied("%s %s was requested, but onnxruntime has %s" % (
                    name, text, " ".join(word for word, value in self.words[name].items() if value is not None)))
            return value
        if name == "inter_op_num_threads":
            if not text.isdecimal():
                raise self.request.failure("%s: %s is not an integer of at least 0" % (name, text))
            return int(text)
        return text

    def check(self, graph):
        """Refuses sizes of dimensions that the graph does not have: ONNX Runtime ignores them."""
        names = graph.dimensions() if self.sizes and graph else self.sizes
        unknown = sorted(set(self.sizes) - set(names))
        if unknown:
            raise self.request.not_applied("session.free_dimension_overrides.%s was requested, but %s has %s" % (
                unknown[0], self.request.model, ", ".join(sorted(names)) or "no free dimension with a name"))

    def applied(self, session):
        """What the session says of the requested options, as text."""
        options, found = session.get_session_options(), {}
        for name, text in self.plain.items():
            value = getattr(options, name)
            if value != self.value(name, text):
                raise self.request.not_applied("%s %s was requested, but the session has %s" % (name, text, value))
            found["session." + name] = text
        if "execution_mode" in self.plain:
            found["session.inter_op_num_threads"] = str(options.inter_op_num_threads)
        for name in self.entries:
            found["session." + name] = options.get_session_config_entry(name)
        for name, size in self.sizes.items():
            found["session.free_dimension_overrides." + name] = size
        if self.libraries:
            found["session.custom_ops_library"] = " ".join(self.libraries)
        return found
